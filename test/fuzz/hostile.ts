import { bearer } from '../support/people.ts'

/**
 * Sends requests that once blocked a server for minutes, all at once. Each gets a response, a refusal or a closed
 * connection.
 */
export async function hostileRequests(url: string, token: string): Promise<void> {
  const submit = 'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { __typename } }'
  const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`unknown${i}`, i]))
  const few = Object.fromEntries(Object.entries(unknown).slice(0, 20_000))
  const labels = Array.from({ length: 66_000 }, () => ({ key: 'k' }))
  const bodies = [
    { query: submit, variables: { input: { spec: unknown } } },
    { query: submit, variables: { input: { spec: few } } },
    { query: 'query ($l: [LabelFilter!]) { jobs(filter: { labels: $l }) { nodes { id } } }', variables: { l: labels } },
  ].map((body) => JSON.stringify(body))
  const nested = `{"query":"{__typename}","variables":{"x":${'['.repeat(1_900_000)}${']'.repeat(1_900_000)}}}`
  const all = [...bodies, nested].flatMap((body) => [post(url, body, { ...bearer(token) }), post(url, body, {})])
  await Promise.all(all)
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<void> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  try {
    await (await fetch(`${url}/graphql`, sent)).text()
  } catch (error) {
    // The server is stopping, or has refused the body before all of it was sent.
    if (!(error instanceof TypeError)) throw error
  }
}
