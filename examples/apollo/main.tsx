import { ApolloClient, InMemoryCache } from '@apollo/client'
import { ApolloProvider, useMutation, useQuery, useSubscription } from '@apollo/client/react'
import { cacheOptions, createBerthLink } from '@berth-jobs/berth/apollo'
import { createClient } from '@berth-jobs/berth/client'
import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import {
  CancelOneDocument,
  DeleteOneDocument,
  FollowJobDocument,
  OneJobDocument,
} from '../view/generated/operations.ts'
import { readToken } from '../view/log-in.tsx'
import { Output } from '../view/output.tsx'
import { failureOf, TroubleBox, troubleOf } from '../view/trouble.tsx'
import { Frame, Gone, JobPanel, JobTable, SubmitForm, useSelectedId, useServerTime } from '../view/view.tsx'
import '../view/style.css'

/**
 * Jobs on Apollo Client 4. The list is `liveJobs` of the client. The cache has the job on display, which `jobStatus`
 * keeps up to date, its progress included.
 */

const client = createClient({ url: import.meta.env['VITE_BERTH_URL'] ?? location.origin, token: readToken })
const cache = new InMemoryCache(cacheOptions)
const apollo = new ApolloClient({ cache, link: createBerthLink(client, { cache }) })

const list = client.liveJobs({ first: 50 })

function Page() {
  useServerTime(client)
  const { jobs, hasMore, isLoaded, state, error } = useSyncExternalStore(list.subscribe, list.getSnapshot)
  const selectedId = useSelectedId()
  const trouble = error && failureOf(error)
  if (!isLoaded) return <TroubleBox trouble={trouble} />
  return (
    <Frame client="Apollo Client" outage={state === 'connecting' ? error : null}>
      <div className="jobs">
        <TroubleBox trouble={state === 'ended' ? trouble : null} />
        <SubmitForm
          onSubmit={({ name, script }) =>
            client.submit({ spec: { command: ['sh', '-c', script], ...(name && { name }) } }).then(troubleOf, failureOf)
          }
        />
        <JobTable jobs={jobs} hasMore={hasMore} selectedId={selectedId} onMore={() => list.loadMore()} />
      </div>
      {selectedId && <Job key={selectedId} id={selectedId} />}
    </Frame>
  )
}

/** Keeps a job in the cache up to date, until its stream ends after the last event. */
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
