import { createClient } from '@berth-jobs/berth/client'
import { berthExchange, graphcacheOptions } from '@berth-jobs/berth/urql'
import { cacheExchange } from '@urql/exchange-graphcache'
import { useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { Client, gql, Provider, type TypedDocumentNode, useMutation, useQuery, useSubscription } from 'urql'

/**
 * Shows jobs with urql 5 and Graphcache. The list comes from `liveJobs` of the client. Graphcache has the open job, which
 * `jobStatus` keeps up to date, including its progress.
 */

interface Job {
  id: string
  name: string | null
  state: string
  progress: { fraction: number | null } | null
}

const jobFields = 'id version name state progress { fraction }'
const oneJob: TypedDocumentNode<{ job: Job | null }, { id: string }> =
  gql`query OneJob($id: ID!) { job(id: $id) { ${jobFields} } }`
const followJob = gql`subscription FollowJob($id: ID!, $after: Cursor) { jobStatus(jobId: $id, after: $after) {
  ... on JobTransitions { cursor job { ${jobFields} } }
  ... on StreamReset { cursor resetReason jobIds }
  ... on StreamHeartbeat { cursor }
} }`
const cancelJob = gql`mutation CancelOne($id: ID!) { cancelJob(input: { jobId: $id }) {
  ... on CancelJobSuccess { job { id version state } }
  ... on Problem { code message }
} }`

const client = createClient({ url: location.origin })
const urql = new Client({ url: client.url, exchanges: [cacheExchange(graphcacheOptions), berthExchange(client)] })
const list = client.liveJobs({ first: 50 })

function Jobs() {
  const { jobs, hasMore, state } = useSyncExternalStore(list.subscribe, list.getSnapshot)
  const [shownId, setShownId] = useState<string | null>(null)
  return (
    <>
      <p>{state === 'live' ? 'Live' : 'Reconnecting…'}</p>
      <ul>
        {jobs.map(({ id, name, state }) => (
          <li key={id}>
            <button type="button" onClick={() => setShownId(id)}>
              {name ?? id}
            </button>{' '}
            {state}
          </li>
        ))}
      </ul>
      {hasMore && (
        <button type="button" onClick={() => list.loadMore()}>
          More
        </button>
      )}
      {shownId && <OneJob key={shownId} id={shownId} />}
    </>
  )
}

function OneJob({ id }: { id: string }) {
  const [{ data, error }] = useQuery({ query: oneJob, variables: { id } })
  useSubscription({ query: followJob, variables: { id } })
  const [, cancel] = useMutation(cancelJob)
  if (error) return <p role="alert">{error.message}</p>
  if (!data?.job) return null
  const { name, state, progress } = data.job
  return (
    <section>
      <h2>{name ?? id}</h2>
      <p>
        {state} <progress value={progress?.fraction ?? 0} />{' '}
        <button type="button" onClick={() => cancel({ id })}>
          Cancel
        </button>
      </p>
    </section>
  )
}

createRoot(document.getElementById('page') as HTMLElement).render(
  <Provider value={urql}>
    <Jobs />
  </Provider>,
)
