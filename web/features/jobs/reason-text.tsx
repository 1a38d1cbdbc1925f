import { Link } from '@tanstack/react-router'
import { formatServerText, nameJob } from '../../parts/server-text.ts'
import styles from './reason-text.module.css'

export const JobLink = ({ job: { id, name } }: { job: { id: string; name: string | null } }) => (
  <Link to="/jobs/$id" params={{ id }} className={styles.link}>
    {nameJob({ id, name })}
  </Link>
)

interface ReasonTextProps {
  message: string
  job: { id: string; name: string | null } | null
}

/** The message of a pending reason. The id of another job in it becomes a link with the name of that job. */
export function ReasonText({ message, job }: ReasonTextProps) {
  if (!job) return formatServerText(message)
  const [before = '', ...after] = formatServerText(message).split(job.id)
  return (
    <>
      {before.trimEnd()} <JobLink job={job} />
      {after.join(job.id)}
    </>
  )
}
