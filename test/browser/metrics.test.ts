import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { BerthServer } from '../support/berth-server.ts'
import { berth, describeConsole } from './support/console.ts'

describeConsole('the metrics of jobs', (subject) => {
  let server: BerthServer
  let context: BrowserContext
  const report = (...metrics: string[]) => `berth progress ${metrics.map((each) => `--metric ${each}`).join(' ')}`
  const submit = (name: string, lr: string, script: string) =>
    berth(server, [
      ...['submit', '--name', name, '--cpu', '0.05', '--mem', '1', '--label', 'sweep=grid', '--label', `lr=${lr}`],
      ...['--', 'sh', '-c', script],
    ])
  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(server.url + path)
    return page
  }
  beforeAll(async () => {
    const nodes = [{ name: 'n1', cpu: 3, memoryGib: 16 }]
    server = await subject.start('metrics', { pools: [{ name: 'local', executor: 'local', jobsAsRoot: true, nodes }] })
    context = await subject.openContext()
  })

  it('are drawn on the page of a job, and updated while the job runs', async () => {
    const go = join(subject.directory, 'go')
    const wait = `while [ ! -e '${go}' ]; do sleep 0.1; done`
    const script = `${report('loss=3')}; ${wait}; ${report('loss=0.125', 'acc=0.5')}; sleep 600`
    const id = await submit('live', '1', script)
    const page = await open(`/jobs/${id}/metrics`)
    const chart = page.getByRole('figure').filter({ has: page.getByRole('heading', { name: 'loss' }) })
    await chart.getByText('3', { exact: true }).waitFor()
    await writeFile(go, '')
    await chart.getByText('0.125').waitFor()
    await page.getByRole('heading', { name: 'acc' }).waitFor()
    await chart.getByRole('button', { name: 'Log' }).click()
    await chart.getByRole('button', { name: 'Table' }).click()
    expect(await chart.getByRole('row').allInnerTexts()).toEqual(['Step\tloss', 'step 1\t3', 'step 2\t0.125'])
    await berth(server, ['cancel', id, '--yes'])
    await page.close()
  })

  it('are compared between jobs, and the jobs of a sweep are sorted with the best one first', async () => {
    const ids = await Promise.all([
      submit('worse', '0.1', report('val/loss=0.9', 'acc=0.1')),
      submit('better', '0.01', report('val/loss=0.3', 'acc=0.7')),
    ])
    await berth(server, ['wait', ...ids])
    const compare = await open(`/jobs/compare?ids=${ids.join()}`)
    const chart = compare.getByRole('figure').filter({ has: compare.getByRole('heading', { name: 'val/loss' }) })
    await chart.getByText('A worse0.9').waitFor()
    await chart.getByText('B better0.3').waitFor()
    const sweep = await open('/sweeps/sweep/grid')
    const first = sweep.getByRole('table', { name: 'Jobs', exact: true }).getByRole('row').nth(1)
    await first.getByText('better').waitFor()
    await sweep.getByLabel('Best is the').selectOption('highest')
    await first.getByText('worse').waitFor()
    await sweep.getByLabel('Colour by').selectOption('val/loss')
    await sweep
      .getByRole('table', { name: /^Jobs by lr/ })
      .getByText('0.9')
      .waitFor()
    await sweep.locator('polyline').last().click()
    await sweep.waitForURL(/\/jobs\/job_/)
    await compare.close()
    await sweep.close()
  })
})
