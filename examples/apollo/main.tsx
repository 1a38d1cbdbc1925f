import { ApolloClient, InMemoryCache } from '@apollo/client'
import { ApolloProvider, useMutation, useQuery, useSubscription } from '@apollo/client/react'
import { cacheOptions, createBerthLink } from '@berth-jobs/berth/apollo'
import { createClient } from '@berth-jobs/berth/client'
import { StrictMode, useEffect, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import {
  CancelOneDocument,
  DeleteOneDocument,
  FollowJobDocument,
  JobListDocument,
  type JobListQuery,
  ListUpdatesDocument,
  OneJobDocument,
} from '../view/generated/operations.ts'
import { readToken } from '../view/log-in.tsx'
import { Output } from '../view/output.tsx'
import { createReread } from '../view/reread.ts'
import { failureOf, TroubleBox, troubleOf } from '../view/trouble.tsx'
import { Frame, Gone, JobPanel, JobTable, SubmitForm, useSelectedId, useServerTime } from '../view/view.tsx'
import '../view/style.css'

/**
 * Jobs on Apollo Client 4. The cache has every job once. The list is read once and kept up to date by `jobUpdates`; it
 * is read again when it has other jobs than before. A job on display is kept up to date by `jobStatus`, its progress
 * included.
 */

const client = createClient({ url: import.meta.env['VITE_BERTH_URL'] ?? location.origin, token: readToken })
const cache = new InMemoryCache(cacheOptions)
const apollo = new ApolloClient({ cache, link: createBerthLink(client, { cache }) })

const reread = createReread(() => apollo.query({ query: JobListDocument, fetchPolicy: 'network-only' }))

function Page() {
  const { data, error, refetch } = useQuery(JobListDocument)
  useServerTime(data?.serverInfo.at)
  const outage = useSyncExternalStore(client.onOutage, client.outage)
  useEffect(() => {
    if (!error || failureOf(error).needsToken) return
    const timer = setTimeout(() => refetch(), 2_000)
    return () => clearTimeout(timer)
  }, [error, refetch])
  return (
    <Frame client="Apollo Client" outage={outage}>
      {data ? <Jobs list={data.jobs} /> : <TroubleBox trouble={error ? failureOf(error) : null} />}
    </Frame>
  )
}

function Jobs({ list }: { list: JobListQuery['jobs'] }) {
  const selectedId = useSelectedId()
  const [after] = useState(list.asOf)
  const [error, setError] = useState<Error | null>(null)
  useSubscription(ListUpdatesDocument, {
    variables: { after },
    ignoreResults: true, // the cache has them
    onError: setError,
    onData({ data: { data } }) {
      const update = data?.jobUpdates
      if (!update) return
      const isShown = 'job' in update && list.nodes.some(({ id }) => id === update.job.id)
      if ('jobIds' in update || ('job' in update && !isShown)) reread()
    },
  })
  const running = list.nodes.filter(({ state, id }) => state === 'RUNNING' && id !== selectedId)
  return (
    <>
      <div className="jobs">
        <TroubleBox trouble={error ? failureOf(error) : null} />
        <SubmitForm
          onSubmit={({ name, script }) =>
            client.submit({ spec: { command: ['sh', '-c', script], ...(name && { name }) } }).then(troubleOf, failureOf)
          }
        />
        <JobTable
          jobs={list.nodes}
          totalCount={list.totalCount}
          isTotalExact={list.isTotalExact}
          selectedId={selectedId}
        />
      </div>
      {selectedId && <Job key={selectedId} id={selectedId} />}
      {running.map(({ id }) => (
        <Follow key={id} id={id} />
      ))}
    </>
  )
}

/**
 * Keeps a job in the cache up to date, until its stream ends after the last event. The list may know the end before the
 * events are here, so the state does not decide.
 */
function Follow({ id }: { id: string }) {
  useSubscription(FollowJobDocument, { variables: { id }, ignoreResults: true })
  return null
}

function Job({ id }: { id: string }) {
  const { data, error } = useQuery(OneJobDocument, { variables: { id } })
  const [cancel] = useMutation(CancelOneDocument, { variables: { id } })
  const [remove] = useMutation(DeleteOneDocument, { variables: { id } })
  if (error) return <TroubleBox trouble={failureOf(error)} />
  if (!data) return null
  if (!data.job) return <Gone />
  return (
    <JobPanel
      job={data.job}
      onCancel={() => cancel().then(({ data }) => troubleOf(data?.cancelJob ?? {}), failureOf)}
      onDelete={() => remove().then(({ data }) => troubleOf(data?.deleteJob ?? {}), failureOf)}
    >
      <Follow id={id} />
      <Output client={client} jobId={id} />
    </JobPanel>
  )
}

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={apollo}>
      <Page />
    </ApolloProvider>
  </StrictMode>,
)
