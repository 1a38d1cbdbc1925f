import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Machines behind ssh. `npm run test:executors` starts them (machines.sh) and passes their folder. */
export const lab = process.env['BERTH_TEST_MACHINES']

const lines = lab === undefined ? [] : readFileSync(join(lab, 'addresses'), 'utf8').trim().split('\n')
export const addresses = lines.map((line) => line.split(' ') as [name: string, address: string])
export const names = addresses.map(([name]) => name)

/** The PATH with the lab's program ssh. */
export const labPath = `${lab}/bin:${process.env['PATH']}`

export const machines = (verb: 'cut' | 'mend' | 'off' | 'on', name: string) =>
  execFileSync('bash', [join(import.meta.dirname, 'machines.sh'), verb, lab ?? '', name], { stdio: 'inherit' })
