#include "init_image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "launch/init_start.h"
#include "sys/kernel.h"

int init_image_open(coop_error **err)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    auto_close int fd = memfd_create("coop-init", flags | MEMFD_EXECUTABLE);

    if (fd < 0 && errno == EINVAL) /* the flag is not known before 6.3, and not needed */
        fd = memfd_create("coop-init", flags);
    if (fd < 0) {
        int failed = fail(err, errno, "make an executable memory file");

        return failed == -EACCES ? fail_hint(err, failed, "'sysctl vm.memfd_noexec' must be 0 or 1")
                                 : failed;
    }
    int r = fd_lift(&fd);
    if (r < 0)
        return fail(err, -r, "make an executable memory file");
    if (write(fd, init_image, init_image_size) != (ssize_t)init_image_size)
        return fail(err, errno, "fill a memory file");
    if (fcntl(fd, F_ADD_SEALS, MEMORY_FILE_SEALS) < 0)
        return fail(err, errno, "seal a memory file");
    return take_fd(&fd);
}
