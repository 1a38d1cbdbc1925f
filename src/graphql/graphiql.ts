import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

/** The page at GET /graphql for browsers: nine megabytes, so rendered and compressed once, at the first request. */
export interface Page {
  readonly gzipped: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const defaultQuery = `# Ctrl-Enter runs what the cursor is in. Everything has a description: see the book icon.

query Overview {
  viewer { user { name level } queue { pendingCount runningCount bestPosition } }
  jobs(first: 10) { nodes { id name state stateReason createdAt runs(last: 1) { nodes { number exitCode } } } }
  queue { pool depth running byState { state count } }
}

mutation Submit {
  submitJob(input: { spec: { name: "hello", command: ["sh", "-c", "for i in 1 2 3; do echo line $i; sleep 1; done"] } }) {
    ... on SubmitJobSuccess { job { id state } warnings }
    ... on InvalidInputProblem { violations { path message } }
    ... on Problem { code message retryable }
  }
}

subscription Output($jobId: ID!) {
  tail(jobId: $jobId) { ... on LogBatch { text isFinal cursor } }
}
`

let page: Page | undefined

export function graphiqlPage(): Page {
  page ??= render()
  return page
}

function render(): Page {
  const html = String(renderGraphiQL({ title: 'Berth', defaultQuery }))
  return {
    gzipped: gzipSync(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'gzip',
      'content-security-policy': contentSecurityPolicy(html),
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  }
}

/** Only the scripts of this very page run, and it talks to this server alone. Its editor makes workers from blobs and writes styles. */
function contentSecurityPolicy(html: string): string {
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
