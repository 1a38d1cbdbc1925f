import { Link, useNavigate } from '@tanstack/react-router'
import { confirmCancel } from '../../features/jobs/actions/cancel-jobs.ts'
import { confirmBulk } from '../../features/jobs/actions/confirm-bulk.tsx'
import { retryJob } from '../../features/jobs/actions/retry-job.ts'
import { findNeighbor } from '../../features/jobs/rows/last-list.ts'
import { type Spec, toCopyInput } from '../../features/spec/spec-input.ts'
import { linkToSubmit } from '../../features/spec/spec-link.ts'
import type { JobAction } from '../../generated/graphql.ts'
import { useKeys } from '../../ground/keys.ts'
import { goToOrigin } from '../../ground/origin.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button, buttonClasses } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { MenuButton } from '../../parts/menu-button.tsx'
import { nameJob } from '../../parts/server-text.ts'
import { StateChip } from '../../parts/state-glyph.tsx'
import { type EndNotice, useEndNotice } from './end-notice.ts'
import styles from './job.module.css'
import { JobFacts } from './job-facts.tsx'
import { hasFailed, type PageJob } from './use-job.ts'
import { findRemedy } from './waiting/remedies.ts'

interface JobHeaderProps {
  job: PageJob
  spec: Spec | null
  isGone: boolean
}

/** The name, state and facts of the job, and the actions that the viewer may take. */
export function JobHeader({ job, spec, isGone }: JobHeaderProps) {
  const actions = useActions(job, spec, isGone)
  const notice = useEndNotice(job)
  const navigate = useNavigate()
  const openChange = () => void (actions.change && navigate(actions.change.target))
  useActionKeys(job, actions, notice, openChange)
  return (
    <header className={styles.header}>
      <div className={styles.first}>
        <StateChip state={job.state} fraction={job.progress?.fraction} />
        <h2 className={styles.name}>{nameJob(job)}</h2>
        <span className={styles.id}>
          {job.name !== null && <code>{job.id}</code>}
          <CopyButton text={job.id} what="id" />
        </span>
        <span className={styles.actions}>
          {actions.cancel && <Button onClick={actions.cancel}>Cancel</Button>}
          {actions.change && job.stateCategory === 'FINAL' && (
            <Link {...actions.change.target} className={buttonClasses(hasFailed(job) ? 'primary' : 'plain')}>
              {actions.change.text}
            </Link>
          )}
          {actions.retry && <Button onClick={actions.retry}>Retry</Button>}
          <MenuButton label="More" items={listMore(job, actions, notice, openChange)} />
        </span>
      </div>
      <JobFacts job={job} spec={spec} />
    </header>
  )
}

interface Change {
  text: string
  target: ReturnType<typeof linkToSubmit> | { to: '/jobs/new'; search: { from: string } }
}

const changeWords = 'Change and submit'

/** The link "Change and submit". After a failure, its spec has the change that would have helped. */
function useChange(job: PageJob, spec: Spec | null): Change {
  const { viewer } = useStart()
  const remedy = spec && findRemedy(job.stateReason, spec)
  if (!remedy) return { text: changeWords, target: { to: '/jobs/new', search: { from: job.id } } }
  const changed = remedy.change(toCopyInput(spec, job.user.id === viewer.user.id))
  return { text: `${changeWords} with ${remedy.text}`, target: linkToSubmit(changed, job.id) }
}

interface Actions {
  cancel: (() => void) | null
  change: Change | null
  retry: (() => void) | null
  prioritize: (() => void) | null
  remove: (() => void) | null
  compare: () => void
  links: readonly { text: string; run: () => void }[]
}

/** Returns the actions on the job; null: the viewer may not take the action now. */
function useActions(job: PageJob, spec: Spec | null, isGone: boolean): Actions {
  const navigate = useNavigate()
  const change = useChange(job, spec)
  const maySubmit = useMay()('JOB_SUBMIT')
  const { links } = useStart()
  const may = (action: JobAction) => !isGone && job.allowedActions.includes(action)
  const retry = async () => {
    const id = await retryJob(job)
    if (id) void navigate({ to: '/jobs/$id', params: { id } })
  }
  const open = (url: string) => window.open(url, '_blank', 'noreferrer')
  return {
    cancel: may('CANCEL') ? () => confirmCancel([job]) : null,
    change: maySubmit && !isGone ? change : null,
    retry: may('RETRY') ? () => void retry() : null,
    prioritize: may('SET_PRIORITY') ? () => confirmBulk('SET_PRIORITY', [job]) : null,
    remove: may('DELETE') ? () => confirmBulk('DELETE', [job]) : null,
    compare: () =>
      void navigate({ to: '/jobs/compare', search: { ids: [job.id, job.retryOf?.id].filter(Boolean).join(',') } }),
    links: links
      .filter(({ on, url }) => on === 'JOB' && /^https?:/.test(url))
      .map(({ title, url }) => ({ text: title, run: () => open(url.replaceAll('{id}', job.id)) })),
  }
}

function listMore(job: PageJob, actions: Actions, notice: EndNotice, onChange: () => void) {
  const { change, prioritize, remove } = actions
  return [
    ...(prioritize ? [{ text: 'Set the priority', detail: 'p', run: prioritize }] : []),
    ...(change && job.stateCategory !== 'FINAL' ? [{ text: change.text, detail: 'r', run: onChange }] : []),
    { text: 'Compare with another job', run: actions.compare },
    ...(job.stateCategory === 'FINAL'
      ? []
      : [
          {
            text: notice.isWanted ? 'Do not tell me when it ends' : 'Tell me when it ends',
            detail: 'b',
            run: notice.toggle,
          },
        ]),
    { text: 'Copy link', run: () => void copyText(location.href) },
    ...actions.links,
    ...(remove ? [{ text: 'Delete', isDangerous: true, run: remove }] : []),
  ]
}

function useActionKeys(job: PageJob, { cancel, change, prioritize }: Actions, notice: EndNotice, onChange: () => void) {
  const navigate = useNavigate()
  const openNeighbor = (by: 1 | -1) => {
    const id = findNeighbor(job.id, by)
    if (id) void navigate({ to: '/jobs/$id', params: { id } })
  }
  useKeys('Job', [
    ...(cancel ? [{ keys: 'c', help: 'Cancel the job', run: cancel }] : []),
    ...(change ? [{ keys: 'r', help: changeWords, run: onChange }] : []),
    ...(prioritize ? [{ keys: 'p', help: 'Set its priority', run: prioritize }] : []),
    ...(job.stateCategory === 'FINAL' ? [] : [{ keys: 'b', help: 'Tell me when it ends', run: notice.toggle }]),
    { keys: '[', help: 'Previous job of the list', run: () => openNeighbor(-1) },
    { keys: ']', help: 'Next job of the list', run: () => openNeighbor(1) },
    { keys: 'Escape', help: 'Back', run: () => void (goToOrigin() || navigate({ to: '/jobs' })) },
  ])
}
