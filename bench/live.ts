import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/platform/clock.ts'
import { createLog } from '../src/platform/log.ts'
import { startPostgres } from '../src/platform/postgres/postgres.ts'
import { startBerthProcess } from '../test/support/berth-process.ts'
import { type Contest, secret, sizes } from './contest.ts'
import { makeDelayEnvironment } from './delays.ts'
import { measureLines } from './live-lines.ts'
import { measureOutput } from './live-output.ts'
import { measureSubscribers } from './live-subscribers.ts'
import { withFolder } from './server.ts'

/**
 * Live streams beside bare servers (bare-streams.ts): what subscribers cost, how fast one transition reaches all, how
 * fast the output of a job reaches one reader, and how late its lines are. Goals: RSS ≤ 1.3 ×, idle < 5 % of a core,
 * event loop p99 < 50 ms, 5,000 reached in p99 < 500 ms, tail ≥ 0.5 ×, lines p50 ≤ 20 ms and p99 ≤ 100 ms while all
 * jobs print.
 *
 * npm run bench -- live --quick --only subscribers
 */
const parts: Readonly<Record<string, (contest: Contest) => Promise<void>>> = {
  subscribers: measureSubscribers,
  tail: measureOutput,
  latency: measureLines,
}
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(parts), multiple: true },
  },
})
const unknown = values.only.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0)
  throw new Error(`--only ${unknown.join(' ')}: a part is one of ${Object.keys(parts).join(', ')}`)
const size = sizes[values.quick ? 'quick' : 'full']

await withFolder(async (dataDir) => {
  const file = join(dataDir, 'output.log')
  await writeFile(file, Buffer.alloc(size.logBytes, 'a line of output, as long as most lines of most programs are\n'))
  const config = join(dataDir, 'berth.yaml')
  await writeFile(
    config,
    `pools:
  - name: local
    executor: local
    jobsAsRoot: true
    limits: { maxConcurrent: null, userMaxConcurrent: null }
    nodes: [{ name: n1, cpu: 256, memoryGib: 1024 }]
`,
  )
  const delaysOf = (name: string) => join(dataDir, `${name}.delays`)
  const postgres = await startPostgres({ dataDir, log: createLog('error'), clock: systemClock })
  const server = { DATABASE_URL: postgres.url, BERTH_CONFIG: config, BERTH_BOOTSTRAP_TOKEN: secret }
  const bare = fork(new URL('./bare-streams.ts', import.meta.url), [file], {
    env: { ...process.env, ...makeDelayEnvironment(delaysOf('bare')) },
  })
  const [bareUrl] = (await once(bare, 'message')) as [string]
  const env = { ...server, ...makeDelayEnvironment(delaysOf('berth')) }
  const berth = await startBerthProcess({ dataDir, env })
  const contest: Contest = {
    berth: { url: berth.url, pid: berth.pid, delays: delaysOf('berth') },
    bare: { url: bareUrl, pid: bare.pid ?? 0, delays: delaysOf('bare'), tell: () => bare.send('') },
    databaseUrl: postgres.url,
    file,
    size,
  }
  try {
    for (const name of values.only) await parts[name]?.(contest)
  } finally {
    bare.disconnect()
    await berth.end()
    await postgres.stop()
  }
})
