import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { search, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import type { Choices } from './form-subject.ts'
import type { Mark } from './spec-text.ts'
import styles from './submit.module.css'
import { completeSpec } from './yaml-completion.ts'

interface EditorProps {
  text: string
  marks: readonly Mark[]
  choices: Choices
  isDisabled: boolean
  onChange: (text: string) => void
}

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '.cm-scroller': { font: 'var(--code)' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--faint)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selected) !important' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '0',
    boxShadow: 'var(--layer)',
    borderRadius: '4px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--ink)' },
  '.cm-completionInfo': { maxWidth: '320px', font: 'var(--cell)' },
  // Replaces the pictures of the editor, which are data: URLs that the content security policy forbids.
  '.cm-lintRange-error, .cm-lintRange-active': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger)',
  },
  '.cm-lint-marker-error': {
    content: 'normal',
    width: '8px',
    height: '8px',
    margin: '5px 3px',
    borderRadius: '50%',
    backgroundColor: 'var(--danger)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
})

/** Colours of the syntax, lighter in the dark theme. */
const colors = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ color, ...spec }) => ({
    ...spec,
    ...(typeof color === 'string' && { color: `light-dark(${color}, color-mix(in oklab, ${color}, white 60%))` }),
  })),
)

/** Reads the nonce of the page, which the styles of the editor need under the content security policy. */
const readNonce = () => document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

const setup: Extension = [
  EditorView.cspNonce.of(readNonce()),
  look,
  syntaxHighlighting(colors),
  yaml(),
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  search({ top: true }),
  placeholder('command: [python, train.py]\nresources:\n  gpu: 1'),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': 'Spec in YAML' }),
  // Keeps Ctrl Enter for submitting. The editor would insert a line.
  keymap.of([
    ...completionKeymap,
    ...lintKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
    indentWithTab,
  ]),
]

const toDiagnostic = ({ from, to, message }: Mark, length: number): Diagnostic => ({
  from: Math.min(from, length),
  to: Math.min(Math.max(to, from), length),
  message,
  severity: 'error',
})

/** An editor for the spec in YAML, which shows violations at their lines. */
export default function YamlEditor({ text, marks, choices, isDisabled, onChange }: EditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef({ onChange, choices })
  latest.current = { onChange, choices }
  useEffect(() => {
    const names = (field: string) => {
      const { queues, executors, launchers } = latest.current.choices
      const lists: Record<string, readonly string[]> = {
        queue: queues.map(({ name }) => name),
        executor: executors,
        launcher: launchers,
      }
      return lists[field] ?? []
    }
    const created = new EditorView({
      parent: box.current ?? document.body,
      state: EditorState.create({
        doc: text,
        extensions: [
          setup,
          autocompletion({ override: [completeSpec(names)] }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onChange(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = created
    created.focus()
    return () => created.destroy()
  }, [])
  // Replaces the text when it differs from the editor's, such as after opening a file.
  useEffect(() => {
    const { current } = view
    if (!current || current.state.doc.toString() === text) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } })
  }, [text])
  const shown = JSON.stringify(marks)
  useEffect(() => {
    const { current } = view
    if (!current) return
    const { length } = current.state.doc
    current.dispatch(
      setDiagnostics(
        current.state,
        (JSON.parse(shown) as Mark[]).map((mark) => toDiagnostic(mark, length)),
      ),
    )
  }, [shown, text])
  return <div ref={box} className={styles.editor} inert={isDisabled} />
}
