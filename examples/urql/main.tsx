import { createClient } from '@berth-jobs/berth/client'
import { berthExchange, graphcacheOptions } from '@berth-jobs/berth/urql'
import { cacheExchange } from '@urql/exchange-graphcache'
import { StrictMode, useEffect, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { Client, Provider, useMutation, useQuery, useSubscription } from 'urql'
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
 * Jobs on urql 5 with Graphcache. The cache has every job once. The list is read once and kept up to date by
 * `jobUpdates`; it is read again when it has other jobs than before. A job on display is kept up to date by
 * `jobStatus`, its progress included.
 */

const client = createClient({ url: import.meta.env['VITE_BERTH_URL'] ?? location.origin, token: readToken })
const urql = new Client({ url: client.url, exchanges: [cacheExchange(graphcacheOptions), berthExchange(client)] })

const reread = createReread(async () => {
  const { error } = await urql.query(JobListDocument, {}, { requestPolicy: 'network-only' }).toPromise()
  if (error) throw error
})

function Page() {
  const [{ data, error }] = useQuery({ query: JobListDocument })
  useServerTime(data?.serverInfo.at)
  const outage = useSyncExternalStore(client.onOutage, client.outage)
  useEffect(() => {
    if (error && !failureOf(error).needsToken) reread()
  }, [error])
  return (
    <Frame client="urql" outage={outage}>
      {data ? <Jobs list={data.jobs} /> : <TroubleBox trouble={error ? failureOf(error) : null} />}
    </Frame>
  )
}

function Jobs({ list }: { list: JobListQuery['jobs'] }) {
  const selectedId = useSelectedId()
  const [after] = useState(list.asOf)
  const [{ error }] = useSubscription({ query: ListUpdatesDocument, variables: { after } }, (_, message) => {
    const update = message.jobUpdates
    const isShown = 'job' in update && list.nodes.some(({ id }) => id === update.job.id)
    // urql calls this while it renders.
    if ('jobIds' in update || ('job' in update && !isShown)) queueMicrotask(reread)
    return message
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
  useSubscription({ query: FollowJobDocument, variables: { id } })
  return null
}

function Job({ id }: { id: string }) {
  const [{ data, error }] = useQuery({ query: OneJobDocument, variables: { id } })
  const [, cancel] = useMutation(CancelOneDocument)
  const [, remove] = useMutation(DeleteOneDocument)
  if (error) return <TroubleBox trouble={failureOf(error)} />
  if (!data) return null
  if (!data.job) return <Gone />
  return (
    <JobPanel
      job={data.job}
      onCancel={() =>
        cancel({ id }).then(({ data, error }) => (error ? failureOf(error) : troubleOf(data?.cancelJob ?? {})))
      }
      onDelete={() =>
        remove({ id }).then(({ data, error }) => (error ? failureOf(error) : troubleOf(data?.deleteJob ?? {})))
      }
    >
      <Follow id={id} />
      <Output client={client} jobId={id} />
    </JobPanel>
  )
}

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <Provider value={urql}>
      <Page />
    </Provider>
  </StrictMode>,
)
