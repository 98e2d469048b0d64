'use client'
import clsx from 'clsx'
import { FileStack, X } from 'lucide-react'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { MAX_CHARACTERS, type ManifestFile } from './documents.ts'

type Props = { files: ManifestFile[]; onChange: (files: ManifestFile[]) => void; onProblem: (message: string | null) => void }

/** Files with manifests, dropped or chosen. A file with the name of another one replaces it. */
export function FilePicker({ files, onChange, onProblem }: Props) {
  const [isOver, setOver] = useState(false)
  async function add(list: FileList | null) {
    const given = [...(list ?? [])]
    if (given.length === 0) return
    // UTF-8 has at most four bytes per character of JavaScript.
    const large = given.find(({ size }) => size > 4 * MAX_CHARACTERS)
    if (large) return onProblem(t('manifest.tooLarge', { name: large.name }))
    const read = await Promise.all(given.map(async (file) => ({ name: file.name, text: await file.text() })))
    const names = new Set(read.map(({ name }) => name))
    onProblem(null)
    onChange([...files.filter(({ name }) => !names.has(name)), ...read])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the file input inside does the same with the keyboard
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void add(event.dataTransfer.files)
      }}
      className={clsx(
        'flex flex-col items-center gap-2 rounded-lg border border-dashed px-4 py-6 text-center text-sm',
        isOver ? 'border-accent bg-panel' : 'border-line-strong',
      )}
    >
      <FileStack className="size-6 text-faint" aria-hidden />
      <p className="text-muted">{t('manifest.drop')}</p>
      <label className="cursor-pointer text-accent underline underline-offset-2 focus-within:outline-2 focus-within:outline-accent">
        {t('manifest.choose')}
        <input
          type="file"
          multiple
          accept=".yaml,.yml,.json"
          className="sr-only"
          onChange={(event) => {
            void add(event.target.files)
            event.target.value = ''
          }}
        />
      </label>
      {files.length > 0 && (
        <ul aria-label={t('manifest.files')} className="flex flex-wrap justify-center gap-2 pt-2">
          {files.map(({ name }) => (
            <li
              key={name}
              className="flex items-center gap-1 rounded-md border border-line bg-panel pl-2 font-mono text-xs wrap-anywhere"
            >
              {name}
              <Button
                variant="quiet"
                icon={<X aria-hidden />}
                aria-label={t('manifest.removeFile', { name })}
                onClick={() => onChange(files.filter((each) => each.name !== name))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
