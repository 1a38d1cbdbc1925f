import { StartFailed } from './executor.ts'
import { scriptOf } from './scripts.ts'

/**
 * The X11 display of a run: a container beside that of the job, with an X server (display.sh). They share the folder of
 * its socket and nothing else, so no other container reaches it, with or without a network.
 */

export const displayScript = scriptOf(import.meta.dirname, 'display.sh')
/** Where X servers have their sockets. */
export const displayFolder = '/tmp/.X11-unix'
/** It is there when the display answers; the first process of the job keeps it open. */
export const displayPipe = `${displayFolder}/berth`
export const displayVariables = { DISPLAY: ':0' }
/** What it may use beside the job. */
export const displayLimits = { cpuMillis: 1_000, memoryMib: 512, pids: 256 }
export const displaySecondsMax = 60
/** What NVIDIA's runtime gives a display on a GPU. */
export const displayCapabilities = ['graphics', 'display', 'utility']

/** Throws StartFailed: also a server that began the pool with another configuration accepts jobs for it. */
export function displayImage(executor: string, image: string | undefined): string {
  if (image !== undefined) return image
  throw new StartFailed('BAD_SPEC', `x11: the configuration names no image for displays (${executor}.x11Image)`)
}

/** How a display ended. */
export const displayEndOf = (exitCode: number, isOom: boolean): string =>
  isOom ? `it needed more than ${displayLimits.memoryMib} MiB` : `exit code ${exitCode}`
export const lostDisplay = (end: string): string => `Its X11 display ended before it: ${end}`
export const displayFailure = (why: string): string => `The X11 display did not start: ${why}`
