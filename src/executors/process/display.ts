import { StartFailed } from '../executor.ts'
import { readScript } from './scripts.ts'

/** The X11 display of a run: an X server in a container (display.sh), which shares only its socket with the job. */

export const displayScript = readScript(import.meta.dirname, 'display.sh')
/** Directory in which X servers create their sockets. */
export const xSocketFolder = '/tmp/.X11-unix'
/** A named pipe that exists when the display is ready. The first process of the job keeps it open. */
export const displayPipe = `${xSocketFolder}/berth`
export const displayVariables = { DISPLAY: ':0' }
/** Limits of the display, in addition to the resources of the job. */
export const displayLimits = { cpuMillis: 1_000, memoryMib: 512, pids: 256 }
export const displaySecondsMax = 60
/** Driver capabilities that NVIDIA's runtime gives to a display with a GPU. */
export const displayCapabilities = ['graphics', 'display', 'utility']

/** Throws StartFailed if no image is configured: a server with another configuration may have accepted the job. */
export function requireDisplayImage(executor: string, image: string | undefined): string {
  if (image !== undefined) return image
  throw new StartFailed('BAD_SPEC', `x11: the configuration names no image for displays (${executor}.x11Image)`)
}

export const describeDisplayEnd = (exitCode: number, isOom: boolean): string =>
  isOom ? `it needed more than ${displayLimits.memoryMib} MiB` : `exit code ${exitCode}`
export const describeLostDisplay = (end: string): string => `The X11 display ended before the job: ${end}`
export const describeDisplayFailure = (why: string): string => `The X11 display did not start: ${why}`
