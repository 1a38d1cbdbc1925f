import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'

const doneMs = 1_500

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await copyText(text)
    setDone(true)
    setTimeout(() => setDone(false), doneMs)
  }
  return (
    <Button look="quiet" aria-label={isDone ? `Copied ${what}` : `Copy ${what}`} onClick={() => void copy()}>
      {isDone ? <Check size={14} /> : <Copy size={14} />}
    </Button>
  )
}
