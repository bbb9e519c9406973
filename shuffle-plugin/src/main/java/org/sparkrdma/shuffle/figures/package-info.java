// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of executors on their way to the driver, and what it knows of an application.
 *
 * <p>Entry classes {@link org.sparkrdma.shuffle.figures.FigureSender} in executors, {@link
 * org.sparkrdma.shuffle.figures.ApplicationFigures} on the driver.
 */
package org.sparkrdma.shuffle.figures;
