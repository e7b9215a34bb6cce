import type { InputHTMLAttributes, Ref, SelectHTMLAttributes, TextareaHTMLAttributes } from 'react';
import { cx } from '../class-names.js';
import { useField } from './field.js';

const box =
  'w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-sm text-text disabled:opacity-60 aria-invalid:border-danger max-md:text-base';

type InputProps = InputHTMLAttributes<HTMLInputElement> & { readonly ref?: Ref<HTMLInputElement> };

export function Input({ className, ...rest }: InputProps) {
  return <input {...useField()} className={cx(box, 'h-8', className)} {...rest} />;
}

type TextareaProps = TextareaHTMLAttributes<HTMLTextAreaElement> & {
  readonly ref?: Ref<HTMLTextAreaElement>;
};

export function Textarea({ className, rows = 4, ...rest }: TextareaProps) {
  return <textarea {...useField()} rows={rows} className={cx(box, 'py-1.5', className)} {...rest} />;
}

/** For JSON and other code. */
export function CodeArea({ className, ...rest }: TextareaProps) {
  return <Textarea spellCheck={false} className={cx('font-mono text-[0.8125rem]', className)} {...rest} />;
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

type SelectProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, 'children'> & {
  readonly options: readonly Option[];
};

/** The browser's own: it works with every keyboard and on every phone. */
export function Select({ className, options, ...rest }: SelectProps) {
  return (
    <select {...useField()} className={cx(box, 'h-8 pr-7', className)} {...rest}>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
