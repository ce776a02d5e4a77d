use surehand_mcp::{
    ListResourceTemplates, ListResources, Listing, ReadResource, ReadResourceParams, ReadResourceResult,
    Resource, ResourceTemplate,
};

use super::{Client, ClientError};

impl Client {
    /// All resources. Empty where the server says that it has none.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_resources(&self) -> Result<Listing<Resource>, ClientError> {
        self.list::<ListResources>(self.server.has_resources).await
    }

    /// All families of resources. Empty where the server says that it has no resources.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, ClientError> {
        self.list::<ListResourceTemplates>(self.server.has_resources).await
    }

    /// Reads one resource.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ClientError> {
        let params = ReadResourceParams { uri: uri.to_owned() };
        self.ask::<ReadResource>(&params, Some(uri)).await
    }
}
