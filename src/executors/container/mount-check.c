/*
 * First program of a container with data mounts: compares each mounted folder with the folder that the server opened and
 * checked, then becomes the command. Without it, a job could exchange a folder below a data root for a link to / between the
 * check and the mount. It runs before any program of the image, so it links nothing.
 *
 * Arguments: RESULT WORKDIR (TARGET DEVICE:INODE)… -- COMMAND…
 * A refusal is written to the file RESULT: "mount" or "workdir". The exit code is 125 then. The server made the file, and
 * its name is random: a link of the image cannot lead the write into a folder of the machine.
 *
 * mount-check.ts holds this program for each architecture; mount-check.sh builds it.
 */
typedef unsigned long u64;
typedef unsigned char u8;

#ifdef __x86_64__
enum { sys_write = 1, sys_fstat = 5, sys_close = 3, sys_execve = 59, sys_exit = 231, sys_chdir = 80, sys_openat = 257 };
enum { o_directory = 0200000, o_nofollow = 0400000 };
/* The number of words of struct stat; st_dev and st_ino are the first two. */
enum { stat_words = 18 };
static long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}
__asm__(".globl _start\n_start: xor %ebp, %ebp\nmov %rsp, %rdi\nand $-16, %rsp\ncall run\n");
#else
enum { sys_write = 64, sys_fstat = 80, sys_close = 57, sys_execve = 221, sys_exit = 94, sys_chdir = 49, sys_openat = 56 };
enum { o_directory = 040000, o_nofollow = 0100000 };
enum { stat_words = 16 };
static long call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
__asm__(".globl _start\n_start: mov x29, #0\nmov x0, sp\nbl run\n");
#endif

enum { o_wronly = 1, o_creat = 0100, o_append = 02000, o_path = 010000000, o_cloexec = 02000000 };
enum { at_cwd = -100, enoent = -2, enotdir = -20, eacces = -13, path_max = 4096 };

static void leave(int code) {
  for (;;) call(sys_exit, code, 0, 0, 0);
}

static u64 length(const char *text) {
  u64 n = 0;
  while (text[n]) n++;
  return n;
}

static void refuse(const char *result, const char *why) {
  long fd = call(sys_openat, at_cwd, (long)result, o_wronly | o_creat | o_append, 0666);
  call(sys_write, fd, (long)why, length(why), 0);
  leave(125);
}

static u64 number(const char **text) {
  u64 value = 0;
  for (; **text >= '0' && **text <= '9'; (*text)++) value = value * 10 + (u64)(**text - '0');
  return value;
}

/* Walks from the root and follows no link: a link could lead to the same folder by another mount. */
static int is_same(char *target, const char *expected) {
  u64 found[stat_words];
  long fd = call(sys_openat, at_cwd, (long)"/", o_path | o_directory | o_cloexec, 0);
  while (*target) {
    char *end = target;
    while (*end && *end != '/') end++;
    char last = *end;
    *end = 0;
    if (*target) {
      long next = call(sys_openat, fd, (long)target, o_path | o_directory | o_nofollow | o_cloexec, 0);
      call(sys_close, fd, 0, 0, 0);
      fd = next;
      if (fd < 0) return 0;
    }
    target = last ? end + 1 : end;
  }
  if (call(sys_fstat, fd, (long)found, 0, 0) != 0) return 0;
  call(sys_close, fd, 0, 0, 0);
  u64 device = number(&expected);
  expected++;
  return found[0] == device && found[1] == number(&expected);
}

/* Like execvp. Returns only if the command cannot be executed. */
static int execute(char **command, char **environment) {
  char path[path_max];
  long error = enoent;
  const char *dirs = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const char *c = command[0]; *c; c++)
    if (*c == '/') {
      error = call(sys_execve, (long)command[0], (long)command, (long)environment, 0);
      return error == enoent || error == enotdir ? 127 : 126;
    }
  for (char **each = environment; *each; each++)
    if (each[0][0] == 'P' && each[0][1] == 'A' && each[0][2] == 'T' && each[0][3] == 'H' && each[0][4] == '=')
      dirs = *each + 5;
  for (u64 size = length(command[0]); *command[0];) {
    u64 n = 0;
    for (; *dirs && *dirs != ':'; dirs++)
      if (n < path_max) path[n++] = *dirs;
    if (n + size + 2 <= path_max) {
      if (n) path[n++] = '/';
      for (u64 i = 0; i <= size; i++) path[n + i] = command[0][i];
      long failure = call(sys_execve, (long)path, (long)command, (long)environment, 0);
      if (failure != enoent && failure != enotdir) error = failure;
    }
    if (!*dirs++) break;
  }
  return error == enoent ? 127 : 126;
}

__attribute__((noreturn, used)) void run(u64 *stack) {
  u64 count = stack[0];
  char **argument = (char **)(stack + 1);
  char **environment = argument + count + 1;
  const char *result = argument[1];
  char **rest = argument + 3;
  for (; rest[0][0] == '/'; rest += 2)
    if (!is_same(rest[0], rest[1])) refuse(result, "mount\n");
  if (call(sys_chdir, (long)argument[2], 0, 0, 0) != 0) refuse(result, "workdir\n");
  leave(execute(rest + 1, environment));
  __builtin_unreachable();
}
