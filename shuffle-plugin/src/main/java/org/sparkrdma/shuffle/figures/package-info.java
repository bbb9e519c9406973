// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of executors on their way to the driver, and what it knows of an application.
 *
 * <p>Entry classes {@link org.sparkrdma.shuffle.figures.FigureSender} in executors, {@code
 * ApplicationFigures} on the driver.
 */
package org.sparkrdma.shuffle.figures;
