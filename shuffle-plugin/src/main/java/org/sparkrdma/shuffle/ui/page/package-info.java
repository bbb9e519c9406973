// SPDX-License-Identifier: Apache-2.0
/**
 * The page as HTML ({@code PageContent}), and the tab in Spark's UI ({@link
 * org.sparkrdma.shuffle.ui.page.RdmaTab}). Classes that extend Spark's pages are loaded only where
 * Spark has such pages ({@link org.sparkrdma.shuffle.spark.ui.UiSupport}). Called by threads of the
 * server.
 */
package org.sparkrdma.shuffle.ui.page;
