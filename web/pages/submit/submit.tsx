import { requireField } from '@berth-jobs/berth/client'
import { useRouterState, useSearch } from '@tanstack/react-router'
import { toCopyInput } from '../../features/spec/spec-input.ts'
import { hasSpecHash, readSpecHash } from '../../features/spec/spec-link.ts'
import { SpecToEditDocument } from '../../generated/graphql.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useQuery } from '../../ground/resource.ts'
import { useStart } from '../../ground/server-facts.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Failed, Loading, Missing } from '../../parts/page-states.tsx'
import { createDraft, loadDraft } from './draft.ts'
import { formatSpecText, parseSpecText } from './spec-text.ts'
import { SubmitForm } from './submit-form.tsx'

/** The page for a new job. The form is empty, or has the spec of a job (`from`) or of a link (`#spec=`). */
export function SubmitPage() {
  usePageTitle('New job')
  const { from } = useSearch({ from: '/jobs/new' })
  const may = useMay()
  // Renders again when the fragment changes. Its text comes from `location`, because the router decodes it.
  useRouterState({ select: ({ location }) => location.hash })
  const { hash } = window.location
  if (!may('JOB_SUBMIT'))
    return (
      <Empty title="You may not submit jobs">
        This needs the permission job.submit, and a token with the scope SUBMIT. Ask an administrator.
      </Empty>
    )
  if (hasSpecHash(hash)) return <LinkedSpec hash={hash} />
  if (from) return <SpecFrom key={from} id={from} />
  return <SubmitForm key="" source="" first={loadDraft('') ?? createDraft('')} />
}

function LinkedSpec({ hash }: { hash: string }) {
  const text = readSpecHash(hash)
  if (text === null)
    return (
      <Empty title="The link has no spec that can be read" actions={<Button href="./jobs/new">New job</Button>}>
        It was probably cut off. Ask for the whole link.
      </Empty>
    )
  // The key is the decoded text, because a fragment can encode the same text in several ways.
  const source = `#${text}`
  return <SubmitForm key={source} source={source} first={loadDraft(source) ?? createDraft(toYaml(text))} />
}

function SpecFrom({ id }: { id: string }) {
  const { viewer } = useStart()
  const kept = loadDraft(id)
  const { value: found, failure, read } = useQuery(SpecToEditDocument, { id }, { isOff: kept !== null })
  const value = found?.job
  if (kept) return <SubmitForm source={id} first={kept} />
  if (!found && failure) return <Failed failure={failure} onRetry={read} />
  if (value === undefined) return <Loading />
  if (value === null) return <Missing what="The job to change and submit" />
  const spec = toCopyInput(requireField(value.spec), value.user.id === viewer.user.id)
  return <SubmitForm source={id} first={createDraft(formatSpecText(spec))} />
}

/** Converts the JSON of a link to YAML. */
function toYaml(text: string): string {
  const { spec } = parseSpecText(text)
  return spec && text.trimStart().startsWith('{') ? formatSpecText(spec) : text
}
