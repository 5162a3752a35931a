#include "protect/scan/ignored_case.h"

#include <fcntl.h>
#include <linux/magic.h>

#include "base/cleanup.h"
#include "test/check.h"

TEST(file_systems_that_ignore_case_are_known_by_their_type)
{
    CHECK(ignored_case_by_type(MSDOS_SUPER_MAGIC));
    CHECK(ignored_case_by_type(0x2011BAB0));                     /* exfat */
    CHECK(ignored_case_by_type(0x5346544E));                     /* ntfs */
    CHECK(ignored_case_by_type(0x7366746E));                     /* ntfs3 */
    CHECK(ignored_case_by_type(0xFF534D42));                     /* cifs */
    CHECK(ignored_case_by_type(0xFE534D42));                     /* smb2 */
    CHECK(ignored_case_by_type((unsigned long)(int)0xFF534D42)); /* as a type with a sign has it */
    CHECK(!ignored_case_by_type(EXT4_SUPER_MAGIC));
    CHECK(!ignored_case_by_type(TMPFS_MAGIC));
    CHECK(!ignored_case_by_type(0));
}

TEST(directories_are_known_by_their_flag)
{
    CHECK(ignored_case_in_flags(0x40000000));
    CHECK(ignored_case_in_flags(0x40080000)); /* with extents */
    CHECK(!ignored_case_in_flags(0x00080000));
    CHECK(!ignored_case_in_flags(0));
}

TEST(who_has_no_flags_minds_case)
{
    auto_close int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto_close int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK(proc >= 0 && here >= 0);
    CHECK(!ignored_case_by_flag(proc));
    CHECK(!ignored_case_by_flag(here));
    CHECK(!ignored_case_by_flag(-1));
}
