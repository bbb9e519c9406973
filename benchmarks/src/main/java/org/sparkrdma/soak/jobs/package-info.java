/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
/**
 * The application of a soak: random jobs whose answers are known beforehand, one after the other
 * until the time is over.
 *
 * <p>Entry: {@link org.sparkrdma.soak.jobs.SoakApplication}. One thread runs the jobs; what their
 * tasks hold moves to executors and is owned by one task there.
 */
package org.sparkrdma.soak.jobs;
