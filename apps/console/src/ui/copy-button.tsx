'use client'
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'

/** Copies a text to the clipboard; also outside secure contexts, where browsers have no clipboard API. */
export function CopyButton({ text, label, quiet = true }: { text: string | (() => string); label?: string; quiet?: boolean }) {
  const [isDone, setDone] = useState(false)
  async function copy() {
    const value = typeof text === 'function' ? text() : text
    if (navigator.clipboard) await navigator.clipboard.writeText(value)
    else {
      const area = document.createElement('textarea')
      area.value = value
      // An open dialog traps the focus; text outside of it can't be selected.
      const container = [...document.querySelectorAll('[role=dialog]')].at(-1) ?? document.body
      container.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <Button
      variant={quiet ? 'quiet' : 'plain'}
      label={label ? undefined : t('common.copy')}
      icon={isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
      onClick={copy}
    >
      {label && (isDone ? t('common.copied') : label)}
    </Button>
  )
}
