'use client'
import clsx from 'clsx'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { t } from '@/messages/index.ts'

const controlStyle =
  'w-full rounded-md border border-line-strong bg-panel px-2.5 text-sm text-text placeholder:text-faint aria-invalid:border-bad-dot focus-visible:outline-offset-0'

type FieldProps = { label: string; hint?: ReactNode; error?: string | null; optional?: boolean; className?: string }

/** Label, hint and error around a form control. */
function FormField({
  label,
  hint,
  error,
  optional,
  className,
  children,
}: FieldProps & { children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode }) {
  const id = useId()
  const noteId = `${id}-note`
  return (
    <div className={clsx('flex flex-col gap-1', className)}>
      <label htmlFor={id} className="flex items-baseline justify-between text-sm font-medium">
        {label}
        {optional && <span className="text-xs font-normal text-faint">{t('common.optional')}</span>}
      </label>
      {children({ id, 'aria-describedby': error || hint ? noteId : undefined, 'aria-invalid': error ? true : undefined })}
      {(error || hint) && (
        <p
          id={noteId}
          className={clsx('text-xs', error ? 'whitespace-pre-line text-bad' : 'text-muted')}
          role={error ? 'alert' : undefined}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  )
}

/** A labeled text input. */
export function TextField({
  label,
  hint,
  error,
  optional,
  className,
  mono,
  ...rest
}: FieldProps & ComponentProps<'input'> & { mono?: boolean }) {
  return (
    <FormField {...{ label, hint, error, optional, className }}>
      {(ids) => <input {...rest} {...ids} className={clsx(controlStyle, 'h-8', mono && 'font-mono')} />}
    </FormField>
  )
}

/** A labeled multi-line text input. */
export function TextAreaField({
  label,
  hint,
  error,
  optional,
  className,
  mono,
  ...rest
}: FieldProps & ComponentProps<'textarea'> & { mono?: boolean }) {
  return (
    <FormField {...{ label, hint, error, optional, className }}>
      {(ids) => (
        <textarea
          spellCheck={false}
          {...rest}
          {...ids}
          className={clsx(controlStyle, 'min-h-20 py-1.5', mono && 'font-mono text-xs leading-5')}
        />
      )}
    </FormField>
  )
}

/** A labeled select. */
export function SelectField({
  label,
  hint,
  error,
  optional,
  className,
  children,
  ...rest
}: FieldProps & ComponentProps<'select'>) {
  return (
    <FormField {...{ label, hint, error, optional, className }}>
      {(ids) => (
        <select {...rest} {...ids} className={clsx(controlStyle, 'h-8 pr-7')}>
          {children}
        </select>
      )}
    </FormField>
  )
}

/** A labeled checkbox. */
export function CheckField({ label, hint, ...rest }: { label: string; hint?: string } & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className="flex items-start gap-2">
      <input
        {...rest}
        id={id}
        type="checkbox"
        aria-describedby={hint ? `${id}-note` : undefined}
        className="mt-0.5 size-4 accent-accent"
      />
      <div>
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {hint && (
          <p id={`${id}-note`} className="text-xs text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
