import { existsSync } from 'node:fs'
import { join } from 'node:path'

interface Ready {
  version: string
  url: string
  port: number
  singleUser: boolean
}

export function greeting({ version, url, port, singleUser }: Ready): string {
  const command =
    existsSync(join(import.meta.dirname, '../../berth')) && import.meta.filename.endsWith('.ts') ? './berth' : 'berth'
  const at = port === 4000 ? command : `BERTH_URL=${url} ${command}`
  return `
Berth ${version} is ready at ${url}
${singleUser ? '' : `\n  Log in         ${command} login ${url}`}
  Run a job      ${at} submit --follow -- echo "Hello from Berth"
  List jobs      ${at} ls
  Look           ${url} in a browser; the API at ${url}/graphql
  Stop           Ctrl-C here; jobs continue, and the next start finds them

`
}
