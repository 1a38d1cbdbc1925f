import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, connectApi } from '../support/api.ts'
import type { BerthProcess } from '../support/berth-process.ts'
import { freePort } from '../support/berth-server.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { type CuttingProxy, startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { adminToken, berth, describeLongConsole } from './support/console.ts'
import { clickRow } from './support/row-clicks.ts'
import { ShownPages } from './support/shown-pages.ts'
import { createDraws, Storm, stormSettings } from './support/storm.ts'
import { readFacts, type View, views } from './support/truth.ts'

const kills = 20
const cutsPerKill = 5 // A hundred together.
const changes = 1_000
/** The round with a long outage, and the round in which the pages move to another server. */
const longRound = 7
const movingRound = 12
const longMs = 60_000
/** Messages from before the kill are drawn within this time. */
const settleMs = 5_000
/** A page without a stream, such as that of a deleted job, notices an outage only by a read every 30 s. */
const sinceMsMax = 40_000
const clicks = 50
/** Rounds for a single view: two plain ones, the long outage, and the move. */
const roundsAlone = [1, longRound, movingRound, 2]
const pauseMsMax = 6_000
const stormMsMax = 900_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describeLongConsole('the pages of the console under load', (subject) => {
  let database: TestDatabase
  let env: Record<string, string>
  /** The server that the pages reach through the proxy. */
  let server: BerthProcess
  /** The server through which other users change the data. */
  let other: BerthProcess
  let proxy: CuttingProxy
  let api: Api
  let storm: Storm
  let context: BrowserContext
  let pages: ShownPages
  const draw = createDraws(28)

  beforeAll(async () => {
    database = await createDatabase()
    env = { DATABASE_URL: database.url, BERTH_BOOTSTRAP_TOKEN: adminToken }
    server = await subject.startProcess('truth', stormSettings, env)
    other = await subject.restart('truth', await freePort(), env)
    proxy = await startProxy(server.url)
    await berth(other, ['user', 'create', 'ben', '--level', 'RESEARCHER'], adminToken)
    const token = (await berth(other, ['token', 'create', 'test', '--user', 'ben'], adminToken)).split('\n').at(-1)
    api = connectApi(other.url, adminToken)
    storm = new Storm(api, connectApi(other.url, token), draw)
    await storm.blow(50)
    const logIn = { server: { ...server, url: proxy.url }, token: adminToken }
    context = await subject.openContext({ viewport: { width: 1280, height: 900 } }, logIn)
    pages = new ShownPages(api, await findWaiting(), views)
    await pages.open(context, proxy.url)
  })
  afterAll(async () => {
    await context?.close()
    await api?.close()
    await proxy?.close()
    await server?.end()
    await other?.end()
    await database?.close()
  })

  async function findWaiting(): Promise<string> {
    const { jobs } = await readFacts(api, 'job_none', views)
    const waiting = jobs.nodes.find(({ state }) => state === 'QUEUED' || state === 'BLOCKED')
    return (waiting ?? jobs.nodes[0])?.id ?? ''
  }

  const start = async () => {
    server = await subject.restart('truth', Number(new URL(server.url).port), env)
  }

  /** Deletes the job whose page is open. */
  async function deleteShownJob() {
    await storm.act('cancel', { jobId: pages.jobId })
    const read = async () => (await readFacts(api, pages.jobId, views)).job?.state ?? 'CANCELLED'
    await until(async () => !['CANCELLING', 'RUNNING', 'STARTING'].includes(await read()), { what: 'the job ends' })
    await storm.act('remove', { jobId: pages.jobId })
  }

  async function stayAway(killedAt: number) {
    const isAway = (texts: readonly string[]) => texts.every((text) => text !== 'Live')
    await until(async () => isAway(await pages.readIndicators()), { what: 'the pages know that the server is away' })
    await sleep(settleMs)
    const shown = await pages.readAll()
    const indicators = await pages.readIndicators()
    await storm.blow(changes / 10)
    await deleteShownJob()
    await sleep(Math.max(0, killedAt + longMs - Date.now()))
    expect(await pages.readAll()).toEqual(shown)
    expect(await pages.readIndicators()).toEqual(indicators)
    for (const text of indicators) {
      const [, time = ''] = /^Reconnecting since (\d\d:\d\d:\d\d)$/.exec(text) ?? []
      const day = new Date(killedAt).toDateString()
      expect(Math.abs(Date.parse(`${day} ${time}`) - killedAt), text).toBeLessThan(sinceMsMax)
    }
  }

  async function blowAndKill(round: number) {
    for (let cut = 0; cut < cutsPerKill; cut++) {
      await storm.blow(changes / kills / 2 / cutsPerKill)
      proxy.cut()
    }
    const killedAt = Date.now()
    await server.end('SIGKILL')
    if (round === longRound) await stayAway(killedAt)
    else await storm.blow(changes / kills / 2)
    if (round === movingRound) {
      await deleteShownJob()
      proxy.moveTo(other.url)
      await pages.awaitTruth()
      await storm.blow(10)
      await start()
      proxy.moveTo(server.url)
      proxy.cut()
    } else await start()
    await pages.awaitTruth()
    await until(async () => (await pages.readIndicators()).every((text) => text === 'Live'), { what: 'pages are live' })
    await pages.showJob(await findWaiting())
  }

  async function rage() {
    for (let round = 1; round <= kills; round++) await blowAndKill(round)
    await storm.blow(Math.max(0, changes - storm.total))
    await pages.awaitTruth()
  }

  /** Runs the rounds with a single open page, because all pages together would keep the processors busy. */
  async function rageBesideOne(view: View): Promise<string> {
    for (const page of context.pages()) await page.close()
    pages = new ShownPages(api, await findWaiting(), [view])
    await pages.open(context, proxy.url)
    await pages.awaitTruth()
    for (const round of roundsAlone) await blowAndKill(round)
    expect(await pages.readSteps()).toEqual([[]])
    return pages.describeTimes()
  }

  async function clickRows() {
    const page = await context.newPage()
    await page.goto(`${proxy.url}/jobs`)
    for (let i = 0; i < clicks; i++) {
      const opens = draw() < 0.8 ? 'PEEK' : 'PAGE'
      const { drawn, opened } = await clickRow(page, { opens, draw: draw(), restMs: draw() * 600 })
      expect(opened).toBe(drawn)
      await sleep(draw() * pauseMsMax)
    }
  }

  it(
    'show the data of the server after each kill, and a click opens the job in the clicked row',
    async () => {
      await pages.awaitTruth()
      await Promise.all([clickRows(), rage()])
      expect(await pages.readSteps()).toEqual(Array(6).fill([]))
      console.info(`${storm.total} changes: ${JSON.stringify(Object.fromEntries(storm.succeeded))}`)
      console.info(`ms until a page shows the data of the server: ${pages.describeTimes()}`)
    },
    stormMsMax,
  )

  it.each(views)(
    'show the data of the server after each kill, one page at a time: $name',
    async (view) => console.info(`ms until a page shows the data, alone: ${await rageBesideOne(view)}`),
    stormMsMax,
  )
})
