import type { Client, TailPart } from '@berth-jobs/berth/client'
import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createScreen, type Line } from './ansi.ts'
import { failureOf, type Trouble, TroubleBox } from './trouble.tsx'

const linesMax = 2_000

/**
 * The output of a job, live. Every byte comes once, also when connections are cut. Output only grows, so no cache keeps it.
 */
export function Output({ client, jobId }: { client: Client; jobId: string }) {
  const { lines, isOver, trouble } = useTail(client, jobId)
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (lines && box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  return (
    <>
      <TroubleBox trouble={trouble} />
      <pre
        ref={box}
        className="output"
        role="log"
        aria-label="Output"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - 24
        }}
      >
        {lines.map((line) => (
          <TextLine key={line.number} line={line} />
        ))}
        {isOver && lines.every(({ spans }) => spans.length === 0) && <span className="dim">No output.</span>}
      </pre>
    </>
  )
}

const TextLine = memo(function TextLine({ line: { spans } }: { line: Line }) {
  return (
    <>
      {spans.map(({ text, className, color }, i) => (
        <span key={i} className={className} style={color ? { color } : undefined}>
          {text}
        </span>
      ))}
      {'\n'}
    </>
  )
})

function useTail(client: Client, jobId: string) {
  const [lines, setLines] = useState<Line[]>([])
  const [isOver, setOver] = useState(false)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  useEffect(() => {
    const leave = new AbortController()
    const screen = createScreen(linesMax)
    let frame = 0
    const show = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        setLines(screen.lines())
      })
    }
    const run = async () => {
      for await (const part of client.tail(jobId, { lastLines: linesMax, signal: leave.signal })) {
        screen.write(textOf(part))
        show()
      }
      setOver(true)
    }
    run().catch((error: Error) => {
      if (!leave.signal.aborted) setTrouble(failureOf(error))
    })
    return () => {
      leave.abort()
      cancelAnimationFrame(frame)
      setLines([])
      setOver(false)
      setTrouble(null)
    }
  }, [client, jobId])
  return { lines, isOver, trouble }
}

function textOf(part: TailPart): string {
  const note = (text: string) => `\x1b[0;2m── ${text} ──\x1b[0m\n`
  switch (part.__typename) {
    case 'LogBatch':
      return part.text
    case 'LogGap':
      return note(`${part.endOffset - part.startOffset} bytes are missing: ${part.gapReason}`)
    case 'RunChanged':
      return part.run.number > 1 ? note(`run ${part.run.number}`) : ''
    case 'StreamReset':
      return part.resetReason === 'DELETED' ? note('the job was deleted') : note('older output is gone')
  }
}
