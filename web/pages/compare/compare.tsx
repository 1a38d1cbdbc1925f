import { useNavigate, useSearch } from '@tanstack/react-router'
import { CompareJobsDocument } from '../../generated/graphql.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useQuery } from '../../ground/resource.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { Choice } from './choice.tsx'
import styles from './compare.module.css'
import { Facts, SpecDifferences } from './compare-tables.tsx'
import { FirstLogDifference } from './first-log-difference.tsx'
import { MetricsTogether } from './metrics-together.tsx'
import { UsageTogether } from './usage-together.tsx'
import { WholeLogs } from './whole-logs.tsx'

const [jobsMin, jobsMax] = [2, 4]
const points = 240
const readAgainMs = 5_000

export function ComparePage() {
  usePageTitle('Compare jobs', { isJob: true })
  const { ids: text = '' } = useSearch({ strict: false }) as { ids?: string }
  const ids = [...new Set(text.split(',').filter(Boolean))]
  if (ids.length > jobsMax)
    return (
      <Empty title={`At most ${jobsMax} jobs can be compared`} actions={<Button href="./jobs">All jobs</Button>}>
        The link names {ids.length}.
      </Empty>
    )
  if (ids.length < jobsMin) return <Choice ids={ids} />
  return <Compared ids={ids} />
}

function Compared({ ids }: { ids: readonly string[] }) {
  const navigate = useNavigate()
  const {
    value: found,
    failure,
    read,
  } = useQuery(CompareJobsDocument, { ids: [...ids], points }, { everyMs: readAgainMs })
  if (!found) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const value = found.nodes.filter((node) => node !== null && 'spec' in node)
  const missing = ids.filter((id) => !value.some((job) => job.id === id))
  const keep = (kept: readonly string[]) => void navigate({ to: '/jobs/compare', search: { ids: kept.join(',') } })
  return (
    <div className={styles.page}>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {missing.length > 0 && (
        <p className={styles.missing} role="alert">
          {missing.join(', ')} {missing.length === 1 ? 'does' : 'do'} not exist, or you may not see{' '}
          {missing.length === 1 ? 'it' : 'them'}.
          <Button onClick={() => keep(ids.filter((id) => !missing.includes(id)))}>Leave out</Button>
        </p>
      )}
      {value.length >= jobsMin && (
        <>
          <Facts jobs={value} onRemove={(id) => keep(ids.filter((each) => each !== id))} />
          <SpecDifferences jobs={value} />
          <MetricsTogether jobs={value} />
          <UsageTogether jobs={value} />
          <FirstLogDifference jobs={value} />
          <WholeLogs jobs={value} />
        </>
      )}
    </div>
  )
}
