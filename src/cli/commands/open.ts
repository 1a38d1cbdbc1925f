import type { Command } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { resolveJob } from '../reading/job-name.ts'
import { findConsolePage, openBrowser } from '../showing/browser.ts'
import { findJob } from '../showing/watch.ts'

const pages: Readonly<Record<string, string>> = {
  jobs: '/jobs',
  workload: '/workload',
  cluster: '/cluster',
  approvals: '/approvals',
  usage: '/usage',
  audit: '/audit',
}

export function registerOpenCommand(program: Command, cli: Cli): void {
  program
    .command('open')
    .argument('[page]', `a job, or ${Object.keys(pages).join(', ')}`)
    .description('open the console in the browser, and print its address')
    .action(async (page: string | undefined) => {
      const path =
        page === undefined ? '/' : (pages[page] ?? `/jobs/${(await findJob(cli, await resolveJob(cli, page))).id}`)
      const address = await findConsolePage(cli, path)
      await openBrowser(cli, address)
      await cli.terminal.write(`${address}\n`)
    })
}
