// SPDX-License-Identifier: Apache-2.0
/**
 * Differences between the versions of Spark and Scala in Spark's UI and History Server. Only {@code
 * shuffle.ui} uses them. {@link org.sparkrdma.shuffle.spark.ui.UiSupport} is loaded on every
 * version, {@link org.sparkrdma.shuffle.spark.ui.PageFrame} only where Spark has the page API of
 * the tab. Called by the driver and by threads of the server.
 */
package org.sparkrdma.shuffle.spark.ui;
