import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './sources.ts'

/** The Python client, and the interpreters of this machine. */

const run = promisify(execFile)

export const pythonClient = join(root, 'clients/python')

/** Finds an interpreter that runs the program; null: not found. Version managers start it by a slow script. */
export function findPython(program = 'import sys; sys.exit(sys.version_info < (3, 9))'): string | null {
  const print = `import sys; print(sys.executable, flush=True)\n${program}`
  for (const python of ['python3', '/usr/bin/python3']) {
    const { status, stdout } = spawnSync(python, ['-c', print], { encoding: 'utf8' })
    if (status === 0) return stdout.trim()
  }
  return null
}

/** Reports skipped tests in the output of the whole test run. */
export function reportMissing(what: string, isMissing: boolean): boolean {
  if (isMissing) process.stderr.write(`SKIPPED: this machine has no ${what}\n`)
  return isMissing
}

/** The environment of a Python program that uses the client of this repository and one server. */
export function pythonEnv(url: string, config: string): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '' } = process.env
  const source = join(pythonClient, 'src')
  const PYTHONPYCACHEPREFIX = join(root, 'node_modules/.cache/berth/python')
  return { PATH, HOME, PYTHONPATH: source, PYTHONPYCACHEPREFIX, BERTH_URL: url, XDG_CONFIG_HOME: config }
}

/** Runs a Python program. If it fails, the error contains its output. */
export async function runPython(
  python: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<string> {
  try {
    const { stdout, stderr } = await run(python, args, { ...options, maxBuffer: 64 * 1024 * 1024 })
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${stdout}${stderr}` || String(error), { cause: error })
  }
}
