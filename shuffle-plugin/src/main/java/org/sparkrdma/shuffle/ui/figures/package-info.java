// SPDX-License-Identifier: Apache-2.0
/**
 * All that the tab shows of an application, as {@link
 * org.sparkrdma.shuffle.ui.figures.ApplicationFigures}: what executors report and what Spark's own
 * events say. Bounded; knows nothing of pages.
 */
package org.sparkrdma.shuffle.ui.figures;
