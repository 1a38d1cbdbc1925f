import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isEngineAddress, isEngineHere, parseSshAddress } from './config/engine-address.ts'
import { checkEngines } from './config/engines.ts'
import { gibBytes } from './config/file.ts'
import { ConfigError } from './config.ts'
import { isBackendError } from './executors/backend/unreachable.ts'
import { checkMachine, type MachineCheck, type MachineOptions } from './executors/container/machine.ts'
import { withoutNvidia } from './executors/container/machine-troubles.ts'
import { systemClock } from './platform/clock.ts'
import { createLog } from './platform/log.ts'
import { exitWritten } from './platform/output.ts'

/**
 * The process of `berth node check`: asks the container engine of a machine, as the server would, and prints the
 * configuration entry of the node. It exits with 1 if the machine needs a repair.
 */

const file = { type: 'string' } as const
type Machine = Pick<MachineOptions, 'engine' | 'tls' | 'image'>

function readMachine(): Machine {
  const { positionals, values } = parseArgs({
    options: { ca: file, cert: file, key: file, image: file },
    allowPositionals: true,
  })
  const [engine = ''] = positionals
  const { ca, cert, key, image = 'ubuntu:22.04' } = values
  const given = [ca, cert, key].filter((each) => each !== undefined).length
  const tls = ca && cert && key ? { ca: resolve(ca), cert: resolve(cert), key: resolve(key) } : undefined
  const remedy = 'for example ssh://berth@gpu1.lab, tcp://gpu1.lab:2376 or unix:///run/docker.sock'
  if (!isEngineAddress(engine))
    throw new ConfigError([{ path: 'engine', reason: `${engine} is not the address of an engine`, remedy }])
  if (given > 0 && !tls)
    throw new ConfigError([{ path: 'tls', reason: 'a file is missing', remedy: 'name --ca, --cert and --key' }])
  const problems = checkEngines([{ engine, tls }], ['container'], 'nodes')
  if (problems.length > 0) throw new ConfigError(problems.map((each) => ({ ...each, path: 'tls' })))
  return { engine, tls, image }
}

async function main(): Promise<number> {
  const machine = readMachine()
  const address = machine.engine
  const to = { ...machine, ssh: parseSshAddress(address), isRemote: !isEngineHere(address) }
  const time = { nowMs: () => Date.now() }
  const log = createLog('silent')
  return print(machine, await checkMachine(address, { ...to, environment: process.env, clock: systemClock, time, log }))
}

function print(machine: Machine, check: MachineCheck): number {
  const { troubles } = check
  const parts = [describe(check, machine.image), ...troubles, `nodes:\n  - ${toEntry(machine, check)}`]
  process.stdout.write(`${parts.join('\n\n')}\n`)
  return troubles.length > 0 ? 1 : 0
}

function describe(
  { facts: { name, cpusMax, memoryBytes, hasNvidia, isPodman }, look: { gpus, diskFree } }: MachineCheck,
  image: string,
) {
  const withoutGpus = isPodman
    ? 'Podman gives containers no GPUs over the API of Docker'
    : hasNvidia
      ? `not found; pull ${image} there: nvidia-smi runs in it, and needs glibc`
      : withoutNvidia
  const memory = memoryBytes === null ? 'unknown' : `${(memoryBytes / gibBytes).toFixed(1)} GiB`
  const disk = diskFree === null ? `unknown; pull ${image} there` : `${Math.floor(diskFree * 100)} % free`
  const facts = [
    ['cores', cpusMax ?? 'unknown'],
    ['memory', memory],
    ['disk', disk],
    [
      'GPUs',
      gpus.length === 0 ? withoutGpus : gpus.map(({ model, memoryGib }) => `${model}, ${memoryGib} GiB`).join('; '),
    ],
  ] as const
  return `${name} answers.\n\n${facts.map(([label, value]) => `  ${label.padEnd(8)}${value}`).join('\n')}`
}

function toEntry({ engine, tls }: Machine, { facts: { cpusMax, memoryBytes }, look }: MachineCheck): string {
  const host = parseSshAddress(engine)?.host ?? (isEngineHere(engine) ? hostname() : new URL(engine).hostname)
  // An IP address has no first label that names the machine.
  const name = /^[\d.]+$|:/.test(host) ? host : host.split('.')[0]
  const files = tls ? `, tls: { ca: "${tls.ca}", cert: "${tls.cert}", key: "${tls.key}" }` : ''
  const memoryGib = memoryBytes === null ? '?' : Math.floor(memoryBytes / gibBytes)
  const kinds = Object.entries(Object.groupBy(look.gpus, ({ uuid: _, ...kind }) => JSON.stringify(kind)))
  const gpus = kinds.map(([kind, all = []]) => toFlow({ ...JSON.parse(kind), count: all.length }))
  const listed = gpus.length === 0 ? '' : `, gpus: [${gpus.join(', ')}]`
  return `{ name: ${name}, engine: "${engine}"${files}, cpu: ${cpusMax ?? '?'}, memoryGib: ${memoryGib}${listed} }`
}

const toFlow = (gpu: object) =>
  `{ ${Object.entries(gpu)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')} }`

main()
  .catch((error: unknown) => {
    const isKnown = error instanceof ConfigError || isBackendError(error)
    process.stderr.write(`berth: ${isKnown ? (error as Error).message : String(error)}\n`)
    return error instanceof ConfigError ? 2 : 1
  })
  .then(exitWritten)
