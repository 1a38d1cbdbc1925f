import { closeSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Closes the files that this process inherited from the program that started the server, such as the lock of a service
 * manager: they would reach every job. Node opens its own files so that no other program inherits them, and marks
 * inherited ones that way only up to the first unused number above 15. A system without /proc does not tell them apart.
 */
export function closeInheritedFiles(): void {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const file = Number(name)
    if (file > 2 && isPassedOn(file)) closeSync(file)
  }
}

const closeOnExec = 0o2000000

function isPassedOn(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // The file by which the folder was read.
    return false
  }
}
