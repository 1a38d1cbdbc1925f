import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toLocalUrl } from './listening.ts'

interface Ready {
  version: string
  /** null: this server does not serve the API. */
  url: string | null
  port: number
  singleUser: boolean
}

export function formatGreeting({ version, url: listensAt, port, singleUser }: Ready): string {
  if (listensAt === null) return `\nBerth ${version} is ready: it schedules jobs and serves no API\n\n`
  const url = toLocalUrl(listensAt)
  const command =
    existsSync(join(import.meta.dirname, '../../berth')) && import.meta.filename.endsWith('.ts') ? './berth' : 'berth'
  const at = port === 4000 ? command : `BERTH_URL=${url} ${command}`
  return `
Berth ${version} is ready at ${url}${url === listensAt ? '' : ' and at all addresses of this machine'}
${singleUser ? '' : `\n  Log in         ${command} login ${url}`}
  Run a job      ${at} submit --follow -- echo "Hello from Berth"
  List jobs      ${at} ls
  Look           ${url} in a browser; the API at ${url}/graphql
  Stop           Ctrl-C or SIGTERM; jobs continue, and the next start finds them

`
}
