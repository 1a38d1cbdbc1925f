import { closeSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Closes the files that this process inherited from the program that started the server, such as the lock of a service
 * manager: every job would get them. Node opens its own files as close-on-exec, but marks inherited files so only up to
 * the first unused number above 15. Without /proc they cannot be distinguished.
 */
export function closeInheritedFiles(): void {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const file = Number(name)
    if (file > 2 && isInheritable(file)) closeSync(file)
  }
}

const closeOnExec = 0o2000000

function isInheritable(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The file by which the folder was read.
    return false
  }
}
