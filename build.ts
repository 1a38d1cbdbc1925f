import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What the package carries: `dist/` is this repository as JavaScript, with the scripts and migrations that the server
 * reads beside its code. Node strips no types under node_modules, so a package cannot run the source.
 */
const root = import.meta.dirname
const dist = join(root, 'dist')
const assets = ['src/**/*.sh', 'prisma/migrations/**/*.sql']
/** All of the code, then the types of the client: no program imports the server. */
const projects = ['tsconfig.build.json', 'tsconfig.types.json']

rmSync(dist, { recursive: true, force: true })
for (const project of projects)
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { cwd: root, stdio: 'inherit' })
for (const path of globSync(assets, { cwd: root })) {
  mkdirSync(dirname(join(dist, path)), { recursive: true })
  cpSync(join(root, path), join(dist, path))
}
