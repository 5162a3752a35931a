#include "ignored_case.h"

#include <linux/fs.h>
#include <linux/magic.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

/* linux/magic.h has these under other names or not at all */
#define MAGIC_EXFAT 0x2011BAB0
#define MAGIC_NTFS  0x5346544E
#define MAGIC_NTFS3 0x7366746E
#define MAGIC_CIFS  0xFF534D42
#define MAGIC_SMB2  0xFE534D42
#define MAGIC_HFS   0x4244
#define MAGIC_HFSX  0x482B

bool ignored_case_by_type(unsigned long type)
{
    static const unsigned long types[] = {
        MSDOS_SUPER_MAGIC, MAGIC_EXFAT,     MAGIC_NTFS, MAGIC_NTFS3, MAGIC_CIFS,
        MAGIC_SMB2,        SMB_SUPER_MAGIC, MAGIC_HFS,  MAGIC_HFSX,
    };

    for (size_t i = 0; i < COUNT(types); i++)
        if ((type & 0xFFFFFFFF) == types[i])
            return true;
    return false;
}

bool ignored_case_in_flags(unsigned long flags)
{
    return flags & FS_CASEFOLD_FL;
}

bool ignored_case_by_flag(int fd)
{
    unsigned long flags = 0; /* the kernel writes half of it, some file systems all */

    return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && ignored_case_in_flags(flags);
}
