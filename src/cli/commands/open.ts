import type { Command } from 'commander'
import { findConsolePage, openBrowser } from '../browser.ts'
import type { Cli } from '../cli.ts'
import { resolveJob } from '../job-name.ts'
import { findJob } from '../watch.ts'

const pages: Readonly<Record<string, string>> = {
  jobs: '/jobs',
  queue: '/queue',
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
