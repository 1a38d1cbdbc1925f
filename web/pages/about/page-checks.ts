import { ServerTimeDocument } from '../../generated/graphql.ts'
import { baseUrl, client } from '../../ground/connection.ts'
import { formatClockDifference, listScripts } from './check-texts.ts'

/** The result of a check of the page or its connection. */
export interface Check {
  name: string
  isGood: boolean
  text: string
}

const clockMsMax = 5_000

export async function checkServer(signal: AbortSignal): Promise<readonly Check[]> {
  const askedMs = Date.now()
  const { serverInfo } = await client.request(ServerTimeDocument, {}, { signal, attempts: 1 })
  const answeredMs = Date.now()
  const differenceMs = (askedMs + answeredMs) / 2 - Date.parse(serverInfo.at)
  return [
    { name: 'Server', isGood: true, text: `Reachable in ${answeredMs - askedMs} ms.` },
    { name: 'Clock', isGood: Math.abs(differenceMs) < clockMsMax, text: formatClockDifference(differenceMs) },
    ...(await checkFiles(signal)),
  ]
}

/** Checks the content security policy, and whether the page is the newest build. */
async function checkFiles(signal: AbortSignal): Promise<readonly Check[]> {
  const response = await fetch(baseUrl, { signal, cache: 'no-store' })
  const policy = response.headers.get('content-security-policy')
  const isStrict = policy !== null && !policy.includes('unsafe-inline') && !policy.includes('unsafe-eval')
  const newest = listScripts(await response.text())
  const loaded = listScripts([...document.scripts].map(({ outerHTML }) => outerHTML).join('\n'))
  const isNewest = newest.every((name) => loaded.includes(name))
  return [
    {
      name: 'Content policy',
      isGood: isStrict,
      text: isStrict ? 'Only files of the server run here.' : 'A proxy removes or weakens the policy of the server.',
    },
    {
      name: 'Page',
      isGood: isNewest,
      text: isNewest ? 'The newest build of the server.' : 'The server has a newer build: reload the page.',
    },
  ]
}
