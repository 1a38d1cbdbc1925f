import { useKeys } from '../../ground/keys.ts'
import { changeSettings, useSettings } from '../../ground/settings.ts'
import { copyText } from '../../parts/copy-text.ts'
import { showToast } from '../../parts/toasts.tsx'
import { nextTimes } from './line-time.ts'
import type { Scroller } from './scroller.ts'
import type { Finder } from './use-finder.ts'
import type { Place } from './use-place.ts'

interface LogKeys {
  place: Place
  scroller: Scroller
  finder: Finder
  /** The first visible line. */
  first: number
}

/** The id of the field for a line or a time, which `:` focuses. */
export const goToFieldId = 'log-go-to'

export const linesId = 'log-lines'
/** Moves the focus from a field back to the lines, where the keys of the log work. */
export const focusLines = (): void => document.getElementById(linesId)?.focus({ preventScroll: true })

export function useLogKeys({ place, scroller, finder, first }: LogKeys): void {
  const { logTimes, logWraps } = useSettings()
  const { follow, isFollowing, goTo } = place
  const openGoTo = () => document.getElementById(goToFieldId)?.focus()
  const end = () => {
    follow(false)
    scroller.scrollToEnd()
  }
  const copyLink = async () => {
    if (!place.range) place.select(first, false)
    await copyText(location.href)
    showToast('Link copied')
  }
  useKeys('Log', [
    { keys: 'f', help: 'Follow the end', run: () => follow(!isFollowing) },
    { keys: '/', help: 'Search', run: () => finder.field.current?.focus() },
    { keys: 'n', help: 'Next match', run: () => finder.move(1) },
    { keys: 'Shift+N', help: 'Previous match', run: () => finder.move(-1) },
    { keys: 'e', help: 'Next error', run: () => finder.moveError(1) },
    { keys: 'Shift+E', help: 'Previous error', run: () => finder.moveError(-1) },
    { keys: 'g g', help: 'First line', run: () => goTo(1) },
    { keys: 'Shift+G', help: 'Last line', run: end },
    { keys: ':', help: 'Go to a line or a time', run: openGoTo },
    { keys: 'Shift+:', help: '', run: openGoTo },
    { keys: 'w', help: 'Wrap lines', run: () => changeSettings({ logWraps: !logWraps }) },
    { keys: 'i', help: 'Times', run: () => changeSettings({ logTimes: nextTimes[logTimes] }) },
    { keys: 'y', help: 'Copy a link to the lines', run: () => void copyLink() },
  ])
}
