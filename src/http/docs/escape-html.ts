/** Text as it has to stand in HTML, in content and in quoted attributes alike. */
import MarkdownIt from 'markdown-it';

export const { escapeHtml } = new MarkdownIt().utils;
