import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Finds where a cgroup with this controller can be created, of version 1 or 2. */
export const findCgroupTree = (controller: 'memory' | 'pids') =>
  [`/sys/fs/cgroup/${controller}`, '/sys/fs/cgroup'].find((path) => {
    try {
      accessSync(join(path, 'cgroup.procs'), constants.W_OK)
      return true
    } catch {
      return false
    }
  })
