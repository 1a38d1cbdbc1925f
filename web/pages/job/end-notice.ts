import { useEffect, useState } from 'react'
import { nameJob } from '../../parts/server-text.ts'
import { stateWords } from '../../parts/states.ts'
import { showToast } from '../../parts/toasts.tsx'
import type { PageJob } from './use-job.ts'

export interface EndNotice {
  isWanted: boolean
  toggle: () => void
}

/** Shows a browser notification when the job ends, as long as the page is open. */
export function useEndNotice(job: PageJob): EndNotice {
  const [isWanted, setWanted] = useState(false)
  const isFinal = job.stateCategory === 'FINAL'
  const name = nameJob(job)
  const toggle = async () => {
    if (isWanted) return setWanted(false)
    if (typeof Notification === 'undefined') return showToast('This browser has no notices', { isTrouble: true })
    if ((await Notification.requestPermission()) !== 'granted')
      return showToast('The browser does not allow notices of this page', { isTrouble: true })
    setWanted(true)
    showToast(`A notice will tell when ${name} ends, while this page is open`)
  }
  useEffect(() => {
    if (!isWanted || !isFinal) return
    setWanted(false)
    const notice = new Notification(`${stateWords[job.state]}: ${name}`, { tag: job.id })
    notice.addEventListener('click', () => window.focus())
  }, [isWanted, isFinal, job.state, job.id, name])
  return { isWanted, toggle: () => void toggle() }
}
