/* Lets User-Mode Linux before 6.13 boot on CPUs with AMX.
 *
 * Its ptrace calls take the extended registers of a process as 2696 bytes (HOST_FP_SIZE, the size
 * with AVX-512 and PKRU).  A CPU with AMX has 11008, and the host's kernel takes back no part of the
 * area: "userspace - ptrace set fp regs failed, errno = 14".  Preloaded, this keeps the rest of the
 * area as it is, so that the guest sees what it expects.
 * linux/arch/x86/kernel/fpu/regset.c, xstateregs_set(); User-Mode Linux asks for the size itself
 * since "um: switch to regset API and depend on XSTATE".
 *
 * It also ties a guest's processes to the guest: without that, one whose kernel was killed would go
 * on as a process of this machine.
 * Build: cc -O2 -shared -fPIC -o xstate.so xstate.c
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PEEKTEXT = 1, PEEKUSER = 3, SETOPTIONS = 0x4200, GETREGSET = 0x4204, SETREGSET = 0x4205 };
enum { NT_X86_XSTATE = 0x202, O_EXITKILL = 1 << 20 };

static unsigned char area[1 << 16];

static long regset(int request, long pid, struct iovec *asked)
{
	struct iovec whole = { area, sizeof area };

	if (syscall(SYS_ptrace, GETREGSET, pid, NT_X86_XSTATE, &whole))
		return -1;
	if (asked->iov_len > whole.iov_len)
		asked->iov_len = whole.iov_len;
	if (request == GETREGSET) {
		memcpy(asked->iov_base, area, asked->iov_len);
		return 0;
	}
	memcpy(area, asked->iov_base, asked->iov_len);
	return syscall(SYS_ptrace, SETREGSET, pid, NT_X86_XSTATE, &whole);
}

long ptrace(int request, ...)
{
	va_list rest;
	va_start(rest, request);
	long pid = va_arg(rest, long), addr = va_arg(rest, long), data = va_arg(rest, long), word;
	va_end(rest);

	if (addr == NT_X86_XSTATE && (request == GETREGSET || request == SETREGSET))
		return regset(request, pid, (struct iovec *)data);
	if (request == SETOPTIONS)
		data |= O_EXITKILL;
	if (request < PEEKTEXT || request > PEEKUSER)
		return syscall(SYS_ptrace, request, pid, addr, data);
	/* the system call stores the word that the library's form returns */
	if (syscall(SYS_ptrace, request, pid, addr, &word))
		return -1;
	errno = 0;
	return word;
}
