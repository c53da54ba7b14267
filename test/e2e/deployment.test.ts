// What is tried on the roles as processes of their own, all on one deployment, whose start takes long. The first counts
// all payments there are, and the last leaves the projections role dead.
import './deployment/rebuild.ts';
import './deployment/kill.ts';
import './deployment/reactors.ts';
