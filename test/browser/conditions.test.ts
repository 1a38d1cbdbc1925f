import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { describeConsole, localPools } from './support/console.ts'

describeConsole('the console', (subject) => {
  let server: BerthServer
  beforeAll(async () => {
    // No process schedules the pool.
    server = await subject.start('conditions', { pools: localPools, server: { roles: ['api'] } })
  })

  it('shows a condition within a minute, with the time of its start and the next commands', async () => {
    const context = await subject.openContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/about`)
    const section = page.getByRole('region', { name: 'Conditions' })
    const condition = section.getByRole('listitem').filter({ hasText: 'NO_LEADER' })
    await condition.waitFor({ timeout: 60_000 })
    const text = await condition.innerText()
    expect(text).toContain('Users are affected now')
    expect(text).toContain('A pool has no leader')
    expect(text).toMatch(/since/)
    expect(text).toContain('pool local')
    expect(text).toContain('berth serve --config FILE')
    await context.close()
  })
})
