import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzipSync } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import { type Exchange, takesGzip } from './compression.ts'

/** The page at GET /graphql for browsers: nine megabytes, so rendered and compressed once, at the first request. */
interface Page {
  readonly gzipped: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** A first tour, in lines that fit the editor. */
const tour = `# Ctrl-Enter runs the operation that the cursor is in.
# Everything has a description: hover, or see the docs.

# 1. A job that prints a line a second
mutation Submit {
  submitJob(input: { spec: {
    name: "hello"
    command: ["sh", "-c",
      "for i in $(seq 9); do echo $i; sleep 1; done"]
  } }) {
    ... on SubmitJobSuccess { job { id state } warnings }
    ... on Problem { code message retryable }
  }
}

# 2. What there is
query List {
  jobs(first: 10) {
    nodes { id name state stateInfo exitCode createdAt }
    totalCount
  }
  queue { pool depth running }
}

# 3. Its output, live: put its id into Variables below
subscription Tail($jobId: ID!) {
  tail(jobId: $jobId, lastLines: 5) {
    ... on LogBatch { text isFinal }
  }
}

# 4. All jobs, live: submit another one in a second tab
subscription Watch {
  jobUpdates {
    ... on JobTransitions {
      job { id name state }
      transitions { seq from to reason }
    }
  }
}
`
const variables = '{ "jobId": "job_…" }'

let page: Page | undefined

export async function sendGraphiql({ request, response }: Exchange): Promise<void> {
  page ??= renderGraphiql()
  const { gzipped, headers } = page
  const isGzip = takesGzip(request.headers['accept-encoding'])
  const bytes = isGzip ? gzipped : await promisify(gunzip)(gzipped)
  response.writeHead(200, {
    ...headers,
    ...(isGzip && { 'content-encoding': 'gzip' }),
    vary: 'Origin, Accept-Encoding',
  })
  response.end(bytes)
}

export function renderGraphiql(): Page {
  const html = String(renderGraphiQL({ title: 'Berth', defaultTabs: [{ query: tour, variables }] }))
  return {
    gzipped: gzipSync(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy(html),
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
    },
  }
}

/**
 * Only the scripts of this very page run, and it talks to this server alone. Its editor makes workers from blobs and
 * writes styles.
 */
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
