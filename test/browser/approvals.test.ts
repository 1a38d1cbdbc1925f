import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { ask } from '../support/client.ts'
import { adminToken, berth, describeConsole, row, submit } from './support/console.ts'

describeConsole('the page of approvals', (subject) => {
  let server: BerthServer
  const tokens: Record<string, string> = {}
  beforeAll(async () => {
    server = await subject.startWithUsers('approvals', {
      approvalRules: [{ name: 'all', condition: { levelNotIn: ['ADMIN'] } }],
    })
    for (const [name, level] of [
      ['ann', 'RESEARCHER'],
      ['ben', 'LEAD'],
      ['cleo', 'LEAD'],
    ] as const) {
      await berth(server, ['user', 'create', name, '--level', level], adminToken)
      tokens[name] =
        (await berth(server, ['token', 'create', 'test', '--user', name], adminToken)).split('\n').at(-1) ?? ''
    }
  })

  const open = async (name: string) => {
    const context = await subject.openContext({}, { server, token: tokens[name] ?? '' })
    const page = await context.newPage()
    await page.goto(`${server.url}/approvals`)
    return page
  }
  const readDecision = async (
    id: string,
  ): Promise<{ status: string; comment: string; decidedBy: { name: string } }> => {
    const query = `{ job(id: "${id}") { approval { status comment decidedBy { name } } } }`
    const { data } = await ask(server.url, query, {}, adminToken)
    return (data as { job: { approval: never } }).job.approval
  }

  it('accepts one decision of two leads in the same second, and shows the other lead who decided', async () => {
    const id = await submit(server, 'contested', 'true', tokens['ann'])
    const pages = await Promise.all([open('ben'), open('cleo')])
    for (const page of pages) {
      await row(page, 'contested').getByRole('button').click()
      await page.getByRole('button', { name: 'Approve' }).waitFor()
    }
    await Promise.all(pages.map((page) => page.getByRole('button', { name: 'Approve' }).click()))
    await expect.poll(async () => (await readDecision(id)).status).toBe('APPROVED')
    const winner = (await readDecision(id)).decidedBy.name
    for (const page of pages)
      await page.getByText(`${winner} approved this`).or(page.getByText('You approved this')).first().waitFor()
    const loser = pages[winner === 'ben' ? 1 : 0]
    expect(await loser?.getByText(`${winner} approved this`).count()).toBeGreaterThan(0)
    for (const page of pages) await page.context().close()
  })

  it('shows a new request at once, and lets a lead reject it by keyboard with a reason', async () => {
    const page = await open('ben')
    await page.getByText('Nothing waits for a decision').waitFor()
    const id = await submit(server, 'late', 'true', tokens['ann'])
    await row(page, 'late').waitFor()
    await page.getByRole('link', { name: 'Approvals 1' }).waitFor()
    await page.keyboard.press('j')
    await page.getByText('rule all').first().waitFor()
    await page.keyboard.press('r')
    await page.getByText('Give a reason').waitFor()
    await page.keyboard.type('too big')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Nothing waits for a decision').waitFor()
    expect(await readDecision(id)).toMatchObject({ status: 'REJECTED', comment: 'too big' })
    await page.context().close()
  })

  it('approves several requests with one comment, and shows the requester the decisions', async () => {
    const ann = await open('ann')
    for (const name of ['one', 'two']) await submit(server, name, 'true', tokens['ann'])
    await row(ann, 'two').waitFor()
    expect(await ann.getByRole('checkbox').count()).toBe(0)
    const page = await open('cleo')
    for (const name of ['one', 'two']) await page.getByLabel(`Select ${name}`).check()
    await page.getByRole('button', { name: 'Approve…' }).click()
    await page.getByText('2 jobs are queued').waitFor()
    await page.getByLabel('Reason').fill('fine')
    await page.getByRole('button', { name: 'Approve 2 requests' }).click()
    await page.getByText('Decided 2 requests').waitFor()
    await row(ann, 'one').getByText('cleo approved this').waitFor()
    for (const each of [ann, page]) await each.context().close()
  })
})
