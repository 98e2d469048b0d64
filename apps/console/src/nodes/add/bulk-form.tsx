'use client'
import { useEffect, useMemo, useState } from 'react'
import { useClient } from 'urql'
import { type Problem, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { AccessFields, noAccess } from '@/nodes/access-fields.tsx'
import { parseTags } from '@/nodes/edit-dialog.tsx'
import { Button } from '@/ui/button.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { CheckNodeImport, type ImportInput, ImportNodes, type ImportReport } from './documents.ts'
import { guessFormat } from './guess-format.ts'
import { ImportRows } from './import-rows.tsx'

const formats: ImportInput['format'][] = ['LIST', 'CSV', 'INVENTORY']

/** Validates the text on the server, debounced; nothing is written. */
function useImportCheck(input: ImportInput | null) {
  const client = useClient()
  const [state, setState] = useState<{ report: ImportReport | null; problem: Problem | null; isChecking: boolean }>({
    report: null,
    problem: null,
    isChecking: false,
  })
  useEffect(() => {
    if (!input) {
      setState({ report: null, problem: null, isChecking: false })
      return
    }
    let isStale = false
    setState((before) => ({ ...before, isChecking: true }))
    const timer = setTimeout(async () => {
      const result = await client.query(CheckNodeImport, { input }, { requestPolicy: 'network-only' }).toPromise()
      if (isStale) return
      if (!result.data) {
        setState({ report: null, problem: result.error ? toProblem(result.error) : null, isChecking: false })
        return
      }
      const outcome = unwrap(result.data)
      setState({ report: outcome.ok ? outcome.value : null, problem: outcome.ok ? null : outcome.problem, isChecking: false })
    }, 350)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, [client, input])
  return state
}

/** The form for many nodes: paste, check each row, add the valid ones. */
export function BulkForm({ onAdded, blockedReason }: { onAdded: (ids: string[]) => void; blockedReason: string | null }) {
  const mutation = useMutation(ImportNodes)
  const [text, setText] = useState('')
  const [chosenFormat, setFormat] = useState<ImportInput['format'] | ''>('')
  const [access, setAccess] = useState(noAccess)
  const [sshUser, setUser] = useState('')
  const [tags, setTags] = useState('')
  const format = chosenFormat || guessFormat(text)
  const input = useMemo<ImportInput | null>(
    () =>
      text.trim()
        ? {
            format,
            text,
            defaults: {
              ...Object.fromEntries(Object.entries(access).filter(([, id]) => id)),
              ...(sshUser && { sshUser }),
              ...(tags.trim() && { tags: parseTags(tags) }),
            },
          }
        : null,
    [text, format, access, sshUser, tags],
  )
  const check = useImportCheck(input)
  const [added, setAdded] = useState<ImportReport | null>(null)
  const valid = check.report?.rows.filter((row) => row.state === 'VALID').length ?? 0
  const invalid = check.report?.rows.filter((row) => row.state === 'INVALID').length ?? 0
  async function add() {
    if (!input || !check.report) return
    const onlyRows = [...new Set(check.report.rows.filter((row) => row.state === 'VALID').map((row) => row.row))]
    const outcome = await mutation.run({ input: { ...input, ...(invalid > 0 && { onlyRows }) } })
    if (!outcome.ok) return
    const ids = outcome.value.report.rows.flatMap((row) => (row.state === 'ADDED' && row.node ? [row.node.id] : []))
    if (ids.length > 0) onAdded(ids)
    else setAdded(outcome.value.report)
  }
  async function readFile(file: File | undefined) {
    if (file) setText(await file.text())
  }
  const problem = mutation.problem ?? check.problem
  const missing = !text.trim()
    ? t('wizard.needText')
    : !check.report
      ? t('wizard.checking')
      : valid === 0
        ? t('wizard.nothingValid')
        : null
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!missing && !blockedReason) void add()
      }}
    >
      <Panel>
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="flex flex-col gap-1.5 sm:col-span-2">
            <TextAreaField
              label={t('import.text')}
              mono
              rows={8}
              autoFocus
              value={text}
              onChange={(event) => setText(event.target.value)}
              placeholder={t('import.example')}
              hint={t(`importHint.${format}`)}
            />
            <label className="w-fit cursor-pointer text-xs text-accent underline underline-offset-2">
              {t('import.fromFile')}
              <input
                type="file"
                accept=".txt,.csv,.ini,.yml,.yaml,.cfg,text/*"
                className="sr-only"
                onChange={(event) => void readFile(event.target.files?.[0])}
              />
            </label>
          </div>
          <SelectField
            label={t('import.format')}
            value={chosenFormat}
            onChange={(event) => setFormat(event.target.value as ImportInput['format'])}
          >
            <option value="">{t('import.guessed', { format: t(`importFormat.${guessFormat(text)}`) })}</option>
            {formats.map((each) => (
              <option key={each} value={each}>
                {t(`importFormat.${each}`)}
              </option>
            ))}
          </SelectField>
          <AccessFields value={access} onChange={(key, id) => setAccess((before) => ({ ...before, [key]: id }))} />
          <TextField
            label={t('node.user')}
            mono
            optional
            value={sshUser}
            onChange={(event) => setUser(event.target.value)}
            hint={t('node.userHint')}
          />
          <TextField
            label={t('nodes.tags')}
            optional
            value={tags}
            onChange={(event) => setTags(event.target.value)}
            hint={t('node.tagsHint')}
          />
          <p className="text-xs text-muted sm:col-span-2">{t('import.defaultsHint')}</p>
        </div>
      </Panel>
      {problem && (
        <Notice tone="bad">
          <p>{problem.message}</p>
          {problem.issues.map((issue) => (
            <p key={issue.path + issue.message}>{issue.message}</p>
          ))}
        </Notice>
      )}
      {(check.report || check.isChecking) && (
        <section aria-label={t('import.check')} className="flex flex-col gap-2">
          <p className="text-sm text-muted tabular-nums" aria-live="polite">
            {check.isChecking
              ? t('wizard.checking')
              : t('import.summary', { valid, invalid, exists: (check.report?.rows.length ?? 0) - valid - invalid })}
          </p>
          {check.report && <ImportRows report={added ?? check.report} />}
        </section>
      )}
      <Button variant="primary" type="submit" showReason busy={mutation.busy} blockedReason={blockedReason ?? missing}>
        {valid > 0 ? t('wizard.addCount', { count: valid }) : t('wizard.addAndTest')}
      </Button>
    </form>
  )
}
