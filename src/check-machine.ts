import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isEngineAddress, isEngineHere, parseSshAddress } from './config/engine-address.ts'
import { checkEngines } from './config/engines.ts'
import { gibBytes } from './config/file.ts'
import { ConfigError } from './config.ts'
import { isBackendError } from './executors/backend/unreachable.ts'
import { Engine } from './executors/container/engine.ts'
import { type EngineFacts, findTroubles, readEngineFacts } from './executors/container/engine-facts.ts'
import { connectMachine, type MachineOptions } from './executors/container/machine.ts'
import { systemClock } from './platform/clock.ts'
import { createLog } from './platform/log.ts'
import { exitWritten } from './platform/output.ts'

/**
 * The process of `berth node check`: asks the container engine of a machine, as the server would, and prints its entry
 * for the configuration. It exits with 1 if something is to be repaired.
 */

const file = { type: 'string' } as const
/** ssh tries to connect for 10 s. */
const sshMsMax = 12_000

type Machine = Pick<MachineOptions, 'engine' | 'tls'>

function readMachine(): Machine {
  const { positionals, values } = parseArgs({ options: { ca: file, cert: file, key: file }, allowPositionals: true })
  const [engine = ''] = positionals
  const { ca, cert, key } = values
  const given = [ca, cert, key].filter((each) => each !== undefined).length
  const tls = ca && cert && key ? { ca: resolve(ca), cert: resolve(cert), key: resolve(key) } : undefined
  const remedy = 'for example ssh://berth@gpu1.lab, tcp://gpu1.lab:2376 or unix:///run/docker.sock'
  if (!isEngineAddress(engine))
    throw new ConfigError([{ path: 'engine', reason: `${engine} is not the address of an engine`, remedy }])
  if (given > 0 && !tls)
    throw new ConfigError([{ path: 'tls', reason: 'a file is missing', remedy: 'name --ca, --cert and --key' }])
  const problems = checkEngines([{ engine, tls }], ['container'], 'nodes')
  if (problems.length > 0) throw new ConfigError(problems.map((each) => ({ ...each, path: 'tls' })))
  return { engine, tls }
}

async function main(): Promise<number> {
  const machine = readMachine()
  const address = machine.engine
  const to = { ssh: parseSshAddress(address), tls: machine.tls, isRemote: !isEngineHere(address) }
  const reached = { ...to, environment: process.env, clock: systemClock, log: createLog('silent') }
  const { connection, onClose } = await connectMachine(reached, sshMsMax)
  const engine = new Engine(address, systemClock, connection)
  try {
    return print(machine, await readEngineFacts(engine, { nowMs: () => Date.now() }))
  } finally {
    engine.close()
    await onClose?.()
  }
}

function print(machine: Machine, facts: EngineFacts): number {
  const troubles = findTroubles(facts)
  const parts = [describe(facts), ...troubles, `nodes:\n  - ${toEntry(machine, facts)}`]
  process.stdout.write(`${parts.join('\n\n')}\n`)
  return troubles.length > 0 ? 1 : 0
}

function describe({ name, cpusMax, memoryBytes, hasNvidia, isPodman }: EngineFacts): string {
  const gpus = hasNvidia
    ? 'the engine has the NVIDIA runtime; add gpus: [{ model, memoryGib, count }] as nvidia-smi shows them there'
    : isPodman
      ? 'Podman gives containers no GPUs over the API of Docker'
      : 'the engine has no NVIDIA runtime; to use GPUs, install nvidia-container-toolkit and run "nvidia-ctk runtime configure"'
  const memory = memoryBytes === null ? 'unknown' : `${(memoryBytes / gibBytes).toFixed(1)} GiB`
  return `${name} answers.\n\n  cores   ${cpusMax ?? 'unknown'}\n  memory  ${memory}\n  GPUs    ${gpus}`
}

function toEntry({ engine, tls }: Machine, { cpusMax, memoryBytes }: EngineFacts): string {
  const host = parseSshAddress(engine)?.host ?? (isEngineHere(engine) ? hostname() : new URL(engine).hostname)
  // An IP address has no first part that names the machine.
  const name = /^[\d.]+$|:/.test(host) ? host : host.split('.')[0]
  const files = tls ? `, tls: { ca: "${tls.ca}", cert: "${tls.cert}", key: "${tls.key}" }` : ''
  const memoryGib = memoryBytes === null ? '?' : Math.floor(memoryBytes / gibBytes)
  return `{ name: ${name}, engine: "${engine}"${files}, cpu: ${cpusMax ?? '?'}, memoryGib: ${memoryGib} }`
}

main()
  .catch((error: unknown) => {
    const isKnown = error instanceof ConfigError || isBackendError(error)
    process.stderr.write(`berth: ${isKnown ? (error as Error).message : String(error)}\n`)
    return error instanceof ConfigError ? 2 : 1
  })
  .then(exitWritten)
