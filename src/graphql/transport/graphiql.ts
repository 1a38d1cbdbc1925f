import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzipSync } from 'node:zlib'
import { acceptsEncoding, type Exchange } from './compression.ts'

/**
 * The page of GraphiQL has nine megabytes. It is loaded, rendered and compressed at its first request; until then an idle
 * server has none of it in memory.
 */
interface Page {
  readonly gzipped: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** The initial text. Its lines fit the editor in a window of 1280 px. */
export const tour = `# Ctrl-Enter runs the operation at the cursor.
# Everything has a description: hover, or docs.

# 1. A job that prints a line a second
mutation Submit {
  submitJob(input: { spec: {
    name: "hello"
    command: ["sh", "-c", """
      for i in $(seq 9)
      do echo $i; sleep 1; done
    """]
  } }) {
    ... on SubmitJobSuccess {
      job { id state } warnings
    }
    ... on Problem { code message retryable }
  }
}

# 2. What there is
query List {
  jobs(first: 10) {
    nodes { id name state exitCode createdAt }
    totalCount
  }
  pool { name workload { depth running } }
}

# 3. Its output, live: its id goes to Variables
subscription Tail($jobId: ID!) {
  tail(jobId: $jobId, lastLines: 5) {
    ... on LogBatch { text isFinal }
  }
}

# 4. All jobs, live: submit one in a second tab
subscription Watch {
  jobUpdates {
    ... on JobTransitions {
      job { id name state }
      transitions { seq from to stateReason }
    }
  }
}
`
const variables = '{ "jobId": "job_…" }'

/**
 * Restores the stored tab. GraphiQL by itself shows a stored tab only if the stored query and variables equal those of
 * the tab.
 */
const restoreTab = `
  const { tabs, activeTabIndex = 0 } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}')
  const linked = new URL(location.href).searchParams.get('query')
  const active = tabs?.[activeTabIndex]
  const tab = linked === null || linked === active?.query ? active : tabs?.find(({ query }) => query === linked)
  const shown = tabs ? tab : ${JSON.stringify({ query: tour, variables })}
  for (const name of ['query', 'variables']) if (shown) localStorage.setItem('graphiql:' + name, shown[name] ?? '')
`

/** Keeps the token in this tab of the browser, and sends it with every request and stream. */
const sendToken = `
  const field = document.querySelector('#berth-token')
  const send = window.fetch
  window.fetch = (input, init = {}) => {
    const headers = new Headers(init.headers)
    const token = sessionStorage.getItem('berth-token')
    if (token && !headers.has('authorization')) headers.set('authorization', 'Bearer ' + token)
    return send(input, { ...init, headers })
  }
  field.value = sessionStorage.getItem('berth-token') ?? ''
  field.addEventListener('change', () => {
    sessionStorage.setItem('berth-token', field.value.trim())
    location.reload()
  })
`

const tokenField = `
  <style>
    body { display: flex; flex-direction: column; height: 100vh; margin: 0; overflow: hidden }
    #root { flex: 1; min-height: 0; height: auto }
    .graphiql-container { height: 100% }
    #access { font: 14px system-ui; padding: 8px 16px; background: #f3f4f6; color: #1f2937 }
    #access input { width: 24em; margin: 0 8px; padding: 4px 8px; font: inherit }
  </style>
  <label id="access">Token <input id="berth-token" type="password" autocomplete="off" placeholder="of a user; Enter sends it" />
    this server requires a token. Only this tab keeps it.</label>`

const pages = new Map<boolean, Promise<Page>>()

export async function sendGraphiql({ request, response }: Exchange, singleUser: boolean): Promise<void> {
  const page = pages.get(singleUser) ?? renderGraphiql(singleUser)
  pages.set(singleUser, page)
  const { gzipped, headers } = await page
  const isGzip = acceptsEncoding(request.headers['accept-encoding'], 'gzip')
  const bytes = isGzip ? gzipped : await promisify(gunzip)(gzipped)
  const encoding = isGzip && { 'content-encoding': 'gzip' }
  response.writeHead(200, { ...headers, ...encoding, vary: 'Origin, Accept-Encoding' })
  response.end(bytes)
}

export async function renderGraphiql(singleUser: boolean): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const page = renderGraphiQL({
    title: 'Berth',
    defaultTabs: [{ query: tour, variables }],
    // If headers were persisted, a token among them would stay in the browser.
    ...{ shouldPersistHeaders: false },
  })
  const scripts = [restoreTab, ...(singleUser ? [] : [sendToken])].map((script) => `<script>{${script}}</script>`)
  const before = [...(singleUser ? [] : [tokenField]), ...scripts, '<div id="root">'].join('')
  const html = String(page).replace('<div id="root">', () => before)
  return {
    gzipped: gzipSync(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': buildContentSecurityPolicy(html),
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
    },
  }
}

/** Allows the scripts of this page and requests to this server. The editor creates workers from blobs and writes styles. */
function buildContentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
